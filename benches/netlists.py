# SPDX-License-Identifier: BSD-2-Clause
"""The netlists of some configurations: two sources with the same ones are the same hardware.

Run as a script, it prints their digest and, asked for with ``--lines``, the lines of ``rtl``'s
modules that made them.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from hypercast import rtl
from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.control_unit import ControlUnit
from hypercast.rtl.core import Core
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.serial.serial_link import SerialLink

__all__ = ["lines_and_digest"]

_RTL = str(Path(rtl.__file__).parent)
#: Small configurations that differ in everything; whether memories are external.
_CONFIGS = (
    (PRESETS["tiny"].replace(dimensions=0), False),
    (PRESETS["test"].replace(planes=4, eject=2, memory_latency=8, memory_stalls=True), False),
    (PRESETS["ulx3s"].replace(lanes=8), True),
)


def lines_and_digest(*, lines: bool) -> dict[str, str | dict[str, list[int]]]:
    """Digest of all netlists, without attributes that name places in the source.

    Parameters
    ----------
    lines : bool
        Whether to list the executed lines, which takes a few times as long.

    Returns
    -------
    dict
        ``digest``, and ``lines``: path within ``rtl`` to the numbers of lines.
    """
    executed: dict[str, set[int]] = {}

    def trace_line(frame: FrameType, event: str, argument: Any) -> Any:
        executed[frame.f_code.co_filename].add(frame.f_lineno)
        return trace_line

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(_RTL):
            return None
        executed.setdefault(name, set()).add(frame.f_lineno)
        return trace_line

    if lines:
        sys.settrace(trace)
    digest = hashlib.sha256()
    for text in _texts():
        for line in text.splitlines():
            if not line.lstrip().startswith("attribute \\src"):
                digest.update(line.encode())
    sys.settrace(None)
    return {"digest": digest.hexdigest(),
            "lines": {str(Path(name).relative_to(_RTL)): sorted(numbers)
                      for name, numbers in executed.items()}}


def _texts() -> Iterator[str]:
    for config, external in _CONFIGS:
        yield to_rtlil(Core(config, external=external), "top")
        yield to_rtlil(ControlUnit(config), "top")
    yield to_rtlil(SerialLink(PRESETS["tiny"], bit_period=16 * 16), "top")


if __name__ == "__main__":
    print(json.dumps(lines_and_digest(lines="--lines" in sys.argv)))
