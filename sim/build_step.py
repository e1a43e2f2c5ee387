"""Runs a tool that builds something, and keeps what it says."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

__all__ = ["BuildError", "run"]


class BuildError(RuntimeError):
    """A tool failed; the message holds the end of its output and where the log is."""


def run(command: Sequence[str], folder: Path, name: str) -> str:
    """Run a command in a folder; returns its output, which ``name.log`` there holds too.

    Raises
    ------
    BuildError
        If it fails.
    """
    log = folder / f"{name}.log"
    with open(log, "w") as output:
        done = subprocess.run(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
    text = log.read_text()
    if done.returncode:
        tail = "\n".join(text.splitlines()[-15:])
        raise BuildError(f"{name} failed with exit status {done.returncode} (log: {log}):\n{tail}")
    return text
