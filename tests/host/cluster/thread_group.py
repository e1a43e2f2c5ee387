"""Groups of threads: what several ranks do, in one process."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np

from hypercast.host.cluster.group import Group


class ThreadGroup(Group):
    """A rank that is a thread; ``board`` is a list that all of them share."""

    def __init__(self, rank, size, board, barrier):
        super().__init__(rank, size)
        self._board, self._barrier = board, barrier

    def _all(self, value):
        self._board[self.rank] = value
        self._barrier.wait()
        found = list(self._board)
        self._barrier.wait()
        return found

    def sum(self, values):
        return np.sum(self._all(values), axis=0)

    def maximum(self, values):
        return np.max(self._all(values), axis=0)

    def tell(self, value=None):
        return self._all(value)[0]

    def gather(self, value):
        return self._all(value) if self.rank == 0 else self._all(value)[:0]

    def exchange(self, sent, received):
        for rank, other in enumerate(self._all(dict(sent))):
            if rank in received:
                received[rank][...] = other[self.rank]
        self._barrier.wait()


def on_ranks(size, function):
    """What ``function(group)`` returns on each rank, in order."""
    board, barrier = [None] * size, Barrier(size, timeout=60)

    def run(rank):
        try:
            return function(ThreadGroup(rank, size, board, barrier))
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        return [future.result() for future in [pool.submit(run, rank) for rank in range(size)]]
