"""What a command is doing, for those who wait: a line that changes, or lines now and then."""

import time
from types import TracebackType
from typing import Self

import click
from rich.console import Console
from rich.markup import escape

__all__ = ["ProgressText"]

#: Seconds between two lines where no terminal is.
_INTERVAL = 5.0


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
        The terminal that is written to; by default that of standard error.
    lines : bool
        Whether lines are written where no terminal is: not by one of several processes.
    """

    def __init__(self, text: str, console: Console | None = None, *, lines: bool = True) -> None:
        console = console or Console(stderr=True)
        self._lines = lines
        self._status = console.status(escape(text)) if console.is_interactive else None
        self._begin = self._written = time.monotonic()

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
            self._status.update(escape(text))
            return
        now = time.monotonic()
        if self._lines and now >= self._written + _INTERVAL:
            self._written = now
            click.echo(f"{now - self._begin:.0f} s: {text}", err=True)

    def stop(self) -> None:
        """Clear the line, before others are written."""
        if self._status:
            self._status.stop()
