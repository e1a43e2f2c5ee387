# SPDX-License-Identifier: BSD-2-Clause
"""A group of processes that MPI started; nobody in it waits for ever."""

import atexit
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.processes.group import Group
from hypercast.host.processes.launcher_variables import find_start
from hypercast.host.processes.own_folder import SEGMENTS, SHARED_MEMORY, OwnFolder
from hypercast.reference.array_types import IntArray

__all__ = ["MpiGroup", "world"]

#: How often a process looks for what it waits for, before it sleeps between two looks.
_LOOKS = 200
_PAUSE = 2e-4
#: Tag of the message with which a rank tells the leader that it has come to a call.
_ARRIVAL = 1
#: Tag of messages between two ranks.
_MESSAGE = 2
#: Seconds that processes may start one after another, at least.
_START = 60.0
_INSTALL = "install it: pip install 'hypercast-gcn[cluster]'"


def world(seconds: float) -> "MpiGroup | None":
    """The group of all processes that were started together; None if there is only this one.

    MPI is asked if a launcher's variables are seen; what it counts is true.

    Parameters
    ----------
    seconds : float
        How long one of them waits for another. Until all have started, it is a minute at least;
        then SIGALRM ends the processes that wait.

    Raises
    ------
    ClusterError
        If the package for it is not installed, or MPI finds one where a launcher says several.
    """
    one = find_start()
    if one is None:
        return None
    # All of it waits for the others, within MPI: only the system can end that.
    signal.setitimer(signal.ITIMER_REAL, max(seconds, _START))
    folder = _own_segments()
    try:
        import mpi4py
        mpi4py.rc.finalize = False  # which crashes in some processes that are alone
        from mpi4py import MPI
        size = MPI.COMM_WORLD.size
        if size > 1:
            if folder:
                atexit.register(folder.remove)
            atexit.register(MPI.Finalize)
            return MpiGroup(MPI, MPI.COMM_WORLD.Dup(), seconds)
        reason = (f"MPI finds it alone: mpi4py's MPI does not know their launcher; start them by "
                  f"the mpirun that is installed beside {sys.executable}, or by srun --mpi=pmix")
        alone = not one.several
    except (ImportError, RuntimeError) as error:
        reason, alone = f"there is no mpi4py ({error}); {_INSTALL}", False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if folder:
        folder.remove()
        for name in SEGMENTS:
            del os.environ[name]
    if alone:
        return None
    raise ClusterError(f"{one.variable} says that {one.size or 'several'} processes were started "
                       f"together, of which this is number {one.rank}, but {reason}; or unset "
                       f"{one.variable} if each is to train alone")


def _own_segments() -> OwnFolder | None:
    """Where MPI keeps this process's shared memory, unless somebody has said where.

    If the process is killed, the next one removes it. MPI would leave it where it is.
    """
    if any(name in os.environ for name in SEGMENTS):
        return None
    try:
        folder = OwnFolder(SHARED_MEMORY)
    except OSError:
        return None
    os.environ.update(dict.fromkeys(SEGMENTS, str(folder.path)))
    return folder


class MpiGroup(Group):
    """The ranks of an MPI communicator.

    Before every call a rank tells the leader that it has come to it. So a leader that waits in
    vain knows for whom, even if others wait for the same one.

    Parameters
    ----------
    mpi : module
        ``mpi4py.MPI``.
    communicator : mpi4py.MPI.Comm
        A communicator of these ranks, and nobody else's.
    seconds : float
        How long the leader waits for others; they wait for it twice as long.

    Raises
    ------
    ClusterError
        By every method, if a rank has not come to the call in time.
    """

    def __init__(self, mpi: Any, communicator: Any, seconds: float) -> None:
        super().__init__(communicator.rank, communicator.size)
        self._mpi = mpi
        self._communicator = communicator
        self._seconds = seconds
        self._calls = 0
        self._status = mpi.Status()
        self._under_way: list[tuple[Any, Any]] = []  # requests, and what they send

    def sum(self, values: IntArray) -> IntArray:
        return self._reduce(values, self._mpi.SUM)

    def maximum(self, values: IntArray) -> IntArray:
        return self._reduce(values, self._mpi.MAX)

    def _reduce(self, values: IntArray, operation: Any) -> IntArray:
        found = np.empty_like(values)
        self._arrive()
        self._finish([self._communicator.Iallreduce(
            np.ascontiguousarray(values), found, operation)])
        return found

    def tell(self, value: Any = None) -> Any:
        content = pickle.dumps(value) if self.rank == 0 else b""
        size = np.array([len(content)], dtype=np.int64)
        self._arrive()
        self._finish([self._communicator.Ibcast(size, 0)])
        found = np.frombuffer(content, np.uint8).copy() if self.rank == 0 else \
            np.empty(size[0], dtype=np.uint8)
        self._finish([self._communicator.Ibcast(found, 0)])
        return value if self.rank == 0 else pickle.loads(found.data)

    def gather(self, value: Any) -> list[Any]:
        content = np.frombuffer(pickle.dumps(value), np.uint8)
        sizes = np.zeros(self.size, dtype=np.int64)
        self._arrive()
        self._finish([self._communicator.Iallgather(
            np.array([len(content)], dtype=np.int64), sizes)])
        everything = np.empty(sizes.sum(), np.uint8) if self.rank == 0 else None
        self._finish([self._communicator.Igatherv(content, (everything, sizes), 0)])
        if everything is None:
            return []
        return [pickle.loads(part.tobytes())
                for part in np.split(everything, np.cumsum(sizes)[:-1])]

    def exchange(self, sent: Mapping[int, npt.NDArray[Any]],
                 received: Mapping[int, npt.NDArray[Any]]) -> None:
        self._arrive()
        self._finish([
            *(self._communicator.Irecv(values, rank) for rank, values in received.items()),
            *(self._communicator.Isend(values, rank) for rank, values in sent.items())])

    def send(self, rank: int, value: Any) -> None:
        content = np.frombuffer(pickle.dumps(value), np.uint8)
        request = self._communicator.Isend(content, rank, _MESSAGE)
        self._under_way = [pair for pair in self._under_way if not pair[0].Test()]
        self._under_way.append((request, content))

    def receive(self, rank: int) -> Any:
        found: list[Any] = []

        def look() -> bool:
            for request, _ in self._under_way:  # what others wait for goes on meanwhile
                request.Test()
            message = self._communicator.Improbe(rank, _MESSAGE, self._status)
            if message:
                found.append(message)
            return bool(message)

        self._wait(look, lambda: [rank])
        content = np.empty(self._status.Get_count(self._mpi.BYTE), np.uint8)
        self._finish([found[0].Irecv(content)])
        return pickle.loads(content.tobytes())

    def _arrive(self) -> None:
        """Tell the leader that this rank has come to its next call; the leader waits for all."""
        self._calls += 1
        if self.rank:
            self._finish([self._communicator.Isend(np.array([self._calls]), 0, _ARRIVAL)])
            return
        calls = np.zeros((self.size, 1), dtype=np.int64)
        self._finish([self._communicator.Irecv(calls[rank], rank, _ARRIVAL)
                      for rank in range(1, self.size)], range(1, self.size))
        assert np.all(calls[1:] == self._calls), "ranks have come to different calls"

    def _finish(self, requests: Sequence[Any], ranks: Sequence[int] = ()) -> None:
        """Wait for all requests; with ``ranks``, each is an answer of one of these."""
        done = [False] * len(requests)

        def look() -> bool:
            for number, request in enumerate(requests):
                done[number] = done[number] or request.Test()
            return all(done)

        self._wait(look, lambda: [rank for rank, answered in zip(ranks, done, strict=True)
                                  if not answered] if ranks else [0])

    def _wait(self, look: Callable[[], bool], silent: Callable[[], list[int]]) -> None:
        """Wait until ``look()`` is true; ``silent()`` are the ranks that it is for."""
        limit = self._seconds * (1 if self.rank == 0 else 2)
        if not _within(look, time.monotonic() + limit):
            ranks = silent()
            names = ", ".join(map(str, ranks))
            raise ClusterError(
                f"board{'s' if len(ranks) > 1 else ''} {names} did not answer for {limit:g} "
                f"seconds; see what that process does, or raise --timeout if it is at work")


def _within(look: Callable[[], bool], deadline: float) -> bool:
    """Whether ``look()`` becomes true in time."""
    for _ in range(_LOOKS):
        if look():
            return True
    while time.monotonic() < deadline:
        if look():
            return True
        time.sleep(_PAUSE)
    return look()
