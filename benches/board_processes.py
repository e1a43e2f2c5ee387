# SPDX-License-Identifier: BSD-2-Clause
"""Trainings by several processes, watched from outside: their ranks, kills and peak memory."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hypercast.host.processes.board_processes import BoardProcesses
from hypercast.host.processes.mpirun import COMMAND_LINE
from hypercast.safe_path import PYTHON

__all__ = ["PREPARING", "children", "on_boards", "peaks", "ranks_below", "strike", "train"]

_RANK = "OMPI_COMM_WORLD_RANK"
_PATIENCE = 120
#: How long a board waits for another.
_SECONDS = 600.0
#: Number in place of a rank, for a process that the leader started to prepare the graph.
PREPARING = -1


def train(*arguments: object) -> "subprocess.Popen[str]":
    """``hypercast train`` in a process of its own."""
    return subprocess.Popen(
        [*PYTHON, "-c", COMMAND_LINE, "train", *map(str, arguments)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def on_boards(boards: int, function: Callable[..., None], *arguments: object) -> Any:
    """The answer of a function that so many processes run, each with its group; see there."""
    processes = BoardProcesses(boards, _SECONDS, function, *arguments, progress=lambda text: None,
                               hint=lambda: "run the bench again")
    try:
        return processes.hear()
    finally:
        processes.finish(None)


def ranks_below(pid: int) -> Iterator[tuple[int, int]]:
    """Rank and number of each process that one started, directly or through others."""
    for child in children(pid):
        try:
            environment = Path(f"/proc/{child}/environ").read_bytes().decode()
        except OSError:
            continue
        found = dict(line.partition("=")[::2] for line in environment.split("\0"))
        if _RANK in found:
            yield int(found[_RANK]), int(child)
        yield from ranks_below(int(child))


def children(pid: int) -> list[str]:
    """Numbers of the processes that one started, from its first thread."""
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []


def strike(process: "subprocess.Popen[str]", rank: int, number: signal.Signals,
           after: float) -> None:
    """Send a signal to a rank, so many seconds after it is there, unless all is over before."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        found = dict(ranks_below(process.pid))
        if rank in found:
            time.sleep(after)
            try:
                os.kill(found[rank], number)
            except ProcessLookupError:
                return
            return
        time.sleep(0.05)


def peaks(process: "subprocess.Popen[str]") -> dict[int, int]:
    """Peak memory of each rank in bytes, of a process that is waited for; alone, it is rank 0.

    The peak of the fullest process that a rank started is under ``PREPARING``.
    """
    found: dict[int, int] = {}
    while process.poll() is None:
        ranks = [*ranks_below(process.pid)]
        others = [(PREPARING, int(child)) for _, pid in ranks for child in children(pid)]
        for rank, pid in [*ranks, *others] or [(0, process.pid)]:
            try:
                lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            except OSError:
                continue
            for line in lines:
                if line.startswith("VmHWM:"):
                    found[rank] = max(found.get(rank, 0), int(line.split()[1]) * 1024)
        time.sleep(0.2)
    return found
