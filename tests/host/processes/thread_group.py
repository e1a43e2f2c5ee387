# SPDX-License-Identifier: BSD-2-Clause
"""Groups of threads: what several ranks do, in one process."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from queue import Queue
from threading import Barrier

import numpy as np

from hypercast.host.processes.group import Group

#: Seconds that a rank waits for another, which may have to build a chip on a busy machine.
_PATIENCE = 300


class ThreadGroup(Group):
    """A rank that is a thread; ``board`` is a list that all of them share."""

    def __init__(self, rank, size, board, barrier, boxes=None):
        super().__init__(rank, size)
        self._boxes = boxes
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
        told = self._all(pickle.dumps(value) if self.rank == 0 else b"")[0]
        return pickle.loads(told) if self.rank else value

    def gather(self, value):
        return self._all(value) if self.rank == 0 else self._all(value)[:0]

    def exchange(self, sent, received):
        for rank, other in enumerate(self._all(dict(sent))):
            if rank in received:
                received[rank][...] = other[self.rank]
        self._barrier.wait()

    def send(self, rank, value):
        self._boxes[self.rank, rank].put(pickle.dumps(value))

    def receive(self, rank):
        return pickle.loads(self._boxes[rank, self.rank].get(timeout=_PATIENCE))


def on_ranks(size, function):
    """What ``function(group)`` returns on each rank, in order; rank 0 is the caller's thread."""
    board, barrier = [None] * size, Barrier(size, timeout=_PATIENCE)
    boxes = {pair: Queue() for pair in itertools.product(range(size), repeat=2)}

    def run(rank):
        try:
            return function(ThreadGroup(rank, size, board, barrier, boxes))
        except SystemExit:  # a rank that ends as agreed on
            raise
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        others = [pool.submit(run, rank) for rank in range(1, size)]
        return [run(0), *(future.result() for future in others)]
