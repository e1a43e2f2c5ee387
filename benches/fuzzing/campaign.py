# SPDX-License-Identifier: BSD-2-Clause
"""Many trials, on all processors; a trial that crashes or hangs ends only its own process."""

import multiprocessing
import os
import queue
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from pathlib import Path

from hypercast.benches.fuzzing.command_options import build_network_of_trials
from hypercast.benches.fuzzing.trial import READ, REFUSED, SAME
from hypercast.benches.fuzzing.trial_kinds import kind_of
from hypercast.benches.fuzzing.worker import NOTE, TRACEBACK, WRONG, Make, make_trial, work
from hypercast.errors import ToolError
from hypercast.safe_path import safe_path

__all__ = ["CRASH", "DEFECTS", "HANG", "Outcome", "run_trials"]

#: Defects that the process which makes trials cannot find itself.
CRASH, HANG = "crash", "hang"
#: All that should not come of a trial.
DEFECTS = (TRACEBACK, CRASH, HANG, WRONG)
#: Seconds after which a trial hangs, on a machine that is busy with others.
_PATIENCE = 60
#: Seconds until a process has imported everything.
_START = 300


@dataclass(frozen=True)
class Outcome:
    """The outcome of a trial.

    Attributes
    ----------
    number : int
        The trial's.
    kind : str
        One of ``KINDS``.
    result : str
        ``REFUSED``, ``SAME``, ``READ``, or one of ``DEFECTS``.
    done : str
        The damage that was done in the trial.
    text : str
        The error, if there was one.
    """

    number: int
    kind: str
    result: str
    done: str
    text: str

    @property
    def summary(self) -> str:
        """The error in a line."""
        return (self.text.strip().splitlines() or [""])[-1]

    @property
    def defect(self) -> bool:
        """Whether it should not have come."""
        return self.result not in (READ, REFUSED, SAME)


def run_trials(seed: int, numbers: Sequence[int],
               progress: Callable[[str], None] = lambda text: None, *,
               patience: float = _PATIENCE, make: Make = make_trial) -> list[Outcome]:
    """The ``Outcome`` of each trial.

    Parameters
    ----------
    seed : int
        Seed of all trials.
    numbers : sequence of int
        Numbers of the trials.
    progress : callable
        Called with a line of text now and then.
    patience : float
        Seconds that a trial may take.
    make : callable
        Makes a trial, as ``make_trial`` does.
    """
    if make is make_trial:
        progress("building the network that trials simulate")
        build_network_of_trials()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="hypercast-fuzz-") as root:
        workers = [_Worker(seed, Path(root), patience, make) for _ in os.sched_getaffinity(0)]
        idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for worker in workers:
            idle.put(worker)

        def outcome(number: int) -> Outcome:
            worker = idle.get()
            try:
                return Outcome(number, kind_of(number), *worker.make(number))
            finally:
                idle.put(worker)

        try:
            with safe_path(), ThreadPoolExecutor(len(workers)) as pool:
                for found in pool.map(outcome, numbers):
                    outcomes.append(found)
                    progress(f"trial {len(outcomes)} of {len(numbers)}, "
                             f"{sum(one.defect for one in outcomes)} defects")
        finally:
            for worker in workers:
                worker.end()
    return outcomes


class _Worker:
    """A process that makes trials; another one when it has crashed or hangs."""

    def __init__(self, seed: int, root: Path, patience: float,
                 make: Make) -> None:
        self._seed, self._root, self._patience, self._make = seed, root, patience, make
        self._process: SpawnProcess | None = None

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=work, daemon=True, args=(
            other, self._make, self._seed, Path(tempfile.mkdtemp(dir=self._root))))
        self._process.start()
        other.close()
        if not self._connection.poll(_START):
            raise ToolError(f"a process did not begin within {_START} s")
        self._connection.recv()

    def make(self, number: int) -> tuple[str, str, str]:
        """Result of a trial, its damage, and an error's text."""
        if self._process is None:
            self._begin()
        done = ""
        deadline = time.monotonic() + self._patience
        try:
            self._connection.send(number)
            while self._connection.poll(max(0.0, deadline - time.monotonic())):
                result, text = self._connection.recv()
                if result != NOTE:
                    return result, done, text
                done = text
        except (EOFError, OSError):
            assert self._process
            self._process.join()
            status = self._process.exitcode
            self._process = None
            return CRASH, done, f"exit status {status}"
        self.end()
        return HANG, done, f"took more than {self._patience} s"

    def end(self) -> None:
        """Kill the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None
