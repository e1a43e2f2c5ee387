# SPDX-License-Identifier: BSD-2-Clause
"""Output of commands for people: sentences that are never wrapped, tables that are never cut.

All consoles and tables come from here.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from hypercast.host.processes.launcher_variables import find_start

__all__ = ["make_console", "print_table"]

#: Columns where no terminal is: more than any table takes.
_WIDE = 10_000
#: Columns that a text in a table has at least, however narrow the terminal is.
_NARROW = 16
#: Width that a column takes beyond its text: a space on each side, and a line.
_SPACE = 3
_NUMBER = re.compile(r"[-+]?[\d,.]+(e[-+]?\d+)?%?")


def make_console(*, errors: bool = False) -> Console:
    """The console of standard output, or of standard ``errors``.

    Text is printed without markup, and a sentence is one line. Colours, and lines that change, are
    for terminals only.
    """
    live = _shows_changes(sys.stderr if errors else sys.stdout)
    # Rich takes COLUMNS=0 for a width.
    nothing = re.fullmatch("0+", os.environ.get("COLUMNS", ""))
    width = shutil.get_terminal_size().columns if live and nothing else None if live else _WIDE
    return Console(stderr=errors, soft_wrap=True, markup=False, emoji=False, highlight=False,
                   force_terminal=live, force_interactive=live, width=width,
                   color_system="auto" if live else None)


def _shows_changes(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal whose reader wants colours and lines that change.

    mpirun gives processes a terminal even where what they print goes to a file. Processes that
    ``--boards`` starts are told by ``TTY_COMPATIBLE`` where their output goes.
    """
    if os.environ.get("TERM") in ("dumb", "unknown") or os.environ.get("NO_COLOR") \
            or os.environ.get("CI", "") not in ("", "0", "false"):
        return False
    told = os.environ.get("TTY_COMPATIBLE")
    if told in ("0", "1"):
        return told == "1"
    return find_start() is None and stream is not None and stream.isatty()


def print_table(console: Console, heads: Sequence[str], rows: Iterable[Sequence[str] | None],
                title: str = "") -> None:
    """Print a table; numbers are at the right of their columns.

    On a narrow terminal texts take several lines. Numbers do not: the table is wider than the
    terminal then.

    Parameters
    ----------
    console : rich.console.Console
        Where to, as from ``make_console``.
    heads : sequence of str
        Heads of the columns. If all are empty, there is no line of heads.
    rows : iterable
        A text for each column, or None for a line between rows.
    title : str
        What is above the table.
    """
    rows = list(rows)
    table = Table(title=title or None, show_header=any(heads))
    needed = 1  # columns of the terminal, if texts take many lines
    for index, head in enumerate(heads):
        cells = [row[index] for row in rows if row and row[index]]
        numbers = bool(cells) and all(map(_NUMBER.fullmatch, cells))
        longest = max(map(cell_len, (head, *cells)))
        least = longest if numbers else min(longest, _NARROW)
        needed += least + _SPACE
        table.add_column(head, justify="right" if numbers else "left", no_wrap=numbers,
                         overflow="fold", min_width=least)
    for row in rows:
        if row is None:
            table.add_section()
        else:
            table.add_row(*row)
    if needed > console.width:
        table.width = needed
    console.print(table)
