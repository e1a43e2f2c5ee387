# SPDX-License-Identifier: BSD-2-Clause
"""Runs a tool that builds something, and keeps its output."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from hypercast.errors import HypercastError
from hypercast.host.files.durable_file import open_new

__all__ = ["BuildError", "StoppedError", "run"]

#: Seconds from one look at a running tool to the next.
_INTERVAL = 1.0


class BuildError(HypercastError, RuntimeError):
    """A tool failed; the message holds the end of its output and where the log is."""


class StoppedError(BuildError):
    """A tool was stopped, as it came to no end."""


def run(command: Sequence[str], folder: Path, name: str,
        stop: Callable[[], str] = lambda: "", product: str = "") -> str:
    """Run a command in a folder; returns its output, which ``name.log`` there holds too.

    Parameters
    ----------
    command : sequence of str
        Program and arguments.
    folder : pathlib.Path
        Where it runs.
    name : str
        Name of the log, and of the step in errors.
    stop : callable
        Asked every second; a text, the reason, stops the command and all that it has started.
    product : str
        A file that it writes to the folder, if that is known.

    Raises
    ------
    BuildError
        If it fails, or there is no product, though it says that it succeeded.
    StoppedError
        If it was stopped.
    """
    log = folder / f"{name}.log"
    with open_new(log) as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True)
    try:
        reason = _wait(process, stop)
    except BaseException:
        _end(process)
        raise
    if reason:
        _end(process)
        raise StoppedError(f"{name} was stopped: {reason} (log: {log})")
    text = log.read_text()
    if process.returncode:
        tail = "\n".join(text.splitlines()[-15:])
        raise BuildError(
            f"{name} failed with exit status {process.returncode} (log: {log}):\n{tail}")
    if product and not _has_content(folder / product):
        raise BuildError(f"{name} ended with exit status 0, but {command[0]} has written no "
                         f"{product} (log: {log}); is this the program that it should be?")
    return text


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _wait(process: subprocess.Popen[bytes], stop: Callable[[], str]) -> str:
    """Until the process has ended, or there is a reason to stop it."""
    while True:
        try:
            process.wait(_INTERVAL)
            return ""
        except subprocess.TimeoutExpired:
            if reason := stop():
                return reason


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all processes that it has started."""
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
