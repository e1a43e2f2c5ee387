# SPDX-License-Identifier: BSD-2-Clause
"""A command's progress, for people who wait: a line that changes, or lines now and then."""

import time
from types import TracebackType
from typing import Self

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from hypercast.host.commands.output import make_console

__all__ = ["ProgressBar", "ProgressText"]

#: Seconds between two lines where no terminal is.
_INTERVAL = 5.0
#: Columns from which on a terminal has room for a bar beside the text.
_ROOMY = 100


class _Lines:
    """Lines on standard error, with the seconds since the beginning: one in five seconds."""

    def __init__(self) -> None:
        self._begin = self._written = time.monotonic()

    def add(self, text: str) -> None:
        now = time.monotonic()
        if now >= self._written + _INTERVAL:
            self._written = now
            click.echo(f"{now - self._begin:.0f} s: {text}", err=True)


class ProgressText:
    """Says what goes on, while a ``with`` lasts.

    On a terminal, the text is a line that is replaced. Elsewhere, such as in a pipe or a log, a
    text is a line on standard error, with the seconds since the beginning. There, at most one line
    is written every five seconds. So quick commands write none.

    Parameters
    ----------
    text : str
        What goes on first.
    console : rich.console.Console, optional
        The terminal that is written to; by default the terminal of standard error.
    lines : bool
        Whether lines are written where no terminal is: not by one of several processes.
    """

    def __init__(self, text: str, console: Console | None = None, *, lines: bool = True) -> None:
        console = console or make_console(errors=True)
        self._lines = _Lines() if lines else None
        self._status = console.status(Text(text)) if console.is_interactive else None

    def __enter__(self) -> Self:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.stop()

    def update(self, text: str) -> None:
        """Say what goes on now."""
        if self._status:
            self._status.update(Text(text))
        elif self._lines:
            self._lines.add(text)

    def stop(self) -> None:
        """Clear the line, before others are written."""
        if self._status:
            self._status.stop()


class ProgressBar:
    """Shows how far something is that is counted, while a ``with`` lasts.

    On a terminal it is a bar, with the count and the time. Elsewhere lines are written as by
    ``ProgressText``.

    Parameters
    ----------
    console : rich.console.Console
        The terminal that is written to, if it is one.
    total, done : int
        How many there are, and how many have been done before.
    """

    def __init__(self, console: Console, total: int, done: int = 0) -> None:
        self._total = total
        self._lines = _Lines()
        self._bar: Progress | None = None
        if console.is_interactive:
            # Whatever does not fit a narrow terminal, it is not the count that is cut.
            count, text = Column(no_wrap=True, width=2 * len(str(total)) + 1), Column(
                no_wrap=True, ratio=1, overflow="ellipsis")
            self._bar = Progress(
                MofNCompleteColumn(table_column=count), TimeElapsedColumn(),
                *([BarColumn(bar_width=16)] if console.width >= _ROOMY else ()),
                TextColumn("{task.description}", markup=False, table_column=text),
                console=console, expand=True)
            self._bar.add_task("", total=total, completed=done)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()

    def update(self, done: int, text: str) -> None:
        """Say how many have been done now, and how it goes."""
        if self._bar:
            self._bar.update(self._bar.task_ids[0], completed=done, description=text)
        else:
            self._lines.add(f"{done} of {self._total}: {text}")
