# SPDX-License-Identifier: BSD-2-Clause
"""What a training says that a signal ends before its time: which, and how to go on."""

import contextlib
import functools
import os
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import click

from hypercast.host.commands.options import Command
from hypercast.host.processes.launcher_variables import find_start
from hypercast.host.processes.mpirun import ENDING_SIGNALS
from hypercast.host.training.run_folder import RunFolder

__all__ = ["Resumption", "interruptible"]


class Resumption:
    """How to go on with a training; asked before it begins, and when it has ended.

    Parameters
    ----------
    folder : pathlib.Path or None
        Where the run is kept.
    resume : bool
        Whether it is gone on with. Else, what is in the folder may be an earlier run.
    """

    def __init__(self, folder: Path | None, resume: bool) -> None:
        self._folder = folder
        self._before = None if resume else self._newest_file()

    def _newest_file(self) -> tuple[int, int] | None:
        """Which file the checkpoint is, if there is one; another one replaces it."""
        if self._folder is None:
            return None
        try:
            found = os.stat(RunFolder(self._folder).checkpoint_path)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    def __call__(self) -> str:
        """The remedy, as a sentence's end."""
        if self._folder is None:
            return "nothing was kept, so train again; --run FOLDER keeps what --resume goes on from"
        if self._newest_file() == self._before:
            return f"no checkpoint was in {self._folder} yet, so train again"
        return (f"hypercast train --resume --run {shlex.quote(str(self._folder))} goes on from the "
                f"last checkpoint")


class _EndedError(BaseException):
    """A signal that ends a program has come."""


def interruptible(function: Command) -> Command:
    """Decorator: a signal that ends a program ends the command with one line that says which.

    The command has ``folder`` and ``resume`` of ``Resumption``. The exit status is the shells' for
    the signal. One of several processes ends as the system has it: who started it says so.
    """
    @functools.wraps(function)
    def wrapped(*args: Any, folder: Path | None, resume: bool, **kwargs: Any) -> None:
        handling = contextlib.nullcontext() if find_start() else _hint(Resumption(folder, resume))
        with handling:
            function(*args, folder=folder, resume=resume, **kwargs)
    return wrapped


@contextlib.contextmanager
def _hint(hint: Resumption) -> Iterator[None]:
    received: list[signal.Signals] = []

    def end(number: int, _: FrameType | None) -> None:
        received.append(signal.Signals(number))
        raise _EndedError

    before = {number: signal.signal(number, end) for number in ENDING_SIGNALS
              if signal.getsignal(number) != signal.SIG_IGN}  # as nohup has it
    try:
        yield
    except _EndedError:
        click.echo(f"error: ended by signal {received[0]:d} ({received[0].name}); {hint()}",
                   err=True)
        raise click.exceptions.Exit(128 + received[0]) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
