# SPDX-License-Identifier: BSD-2-Clause
"""Progress in notebooks: a line of text that changes, below the cell that runs."""

import sys
import time
from typing import Any, NamedTuple

__all__ = ["show_in_notebook"]

#: Seconds from one change of the line to the next; people do not read faster.
_PAUSE = 0.1


class _Line(NamedTuple):
    """The line of a cell, and when it was changed last."""

    cell: int
    handle: Any
    changed: float


_lines: list[_Line] = []


def show_in_notebook(text: str, *, last: bool = False) -> None:
    """Show a line of text instead of the last one of the same cell; nothing outside of notebooks.

    Parameters
    ----------
    text : str
        The line.
    last : bool
        Whether it stays, so that it has to be seen; others are left out if they come too fast.
    """
    ipython: Any = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    if not hasattr(shell, "kernel"):  # a shell in a terminal has none
        return
    now = time.monotonic()
    bundle = {"text/plain": text}
    if not _lines or _lines[0].cell != shell.execution_count:
        handle = ipython.display.display(bundle, raw=True, display_id=True)
    elif now - _lines[0].changed < _PAUSE and not last:
        return
    else:
        handle = _lines[0].handle
        handle.update(bundle, raw=True)
    _lines[:] = [_Line(shell.execution_count, handle, now)]
