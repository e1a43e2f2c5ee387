# SPDX-License-Identifier: BSD-2-Clause
"""Messages between the processes of one training, whatever carries them."""

import abc
import pickle
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.host.processes.virtual_time import VirtualTime
from hypercast.reference.array_types import IntArray
from hypercast.reference.sample import Sample

__all__ = ["Group", "LoneGroup"]


class Group(abc.ABC):
    """The processes of a training, one for each board.

    All of them call the same methods in the same order: each call waits for the others. Only
    ``send`` and ``receive`` are between two of them.

    Parameters
    ----------
    rank : int
        Which of them this is, from 0. Rank 0 is the leader: it has the command line's files
        read, keeps the run, and prints.
    size : int
        How many there are.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank = rank
        self.size = size

    @abc.abstractmethod
    def sum(self, values: IntArray) -> IntArray:
        """Element by element, the sum of what all give."""

    @abc.abstractmethod
    def maximum(self, values: IntArray) -> IntArray:
        """Element by element, the largest of what all give."""

    @abc.abstractmethod
    def tell(self, value: Any = None) -> Any:
        """The leader's value, on every rank."""

    @abc.abstractmethod
    def gather(self, value: Any) -> list[Any]:
        """All ranks' values, in order; on other ranks than the leader's, nothing."""

    @abc.abstractmethod
    def exchange(self, sent: Mapping[int, npt.NDArray[Any]],
                 received: Mapping[int, npt.NDArray[Any]]) -> None:
        """Send arrays to some ranks, and receive others into arrays that are there.

        Parameters
        ----------
        sent, received : dict
            Rank to a contiguous array. What one receives from another has the type and the shape
            of what that one sends.
        """

    # What moves a clock, if the group has one.

    def begin_step(self) -> None:
        """A training step begins."""
        return

    def divide(self, seconds: float) -> None:
        """Note that ranks share one graph, and the seconds of a step on the first board alone."""
        return

    def compute(self, sample: Sample, layers: range, *, forward: bool) -> None:
        """This rank computes a pass of some layers (from 1) on a sample."""
        return

    def spend(self, name: str, cycles: int) -> None:
        """This rank's chip has run a program that took so many cycles."""
        return

    def ahead(self, name: str) -> None:
        """Note that rows exchanged next are needed when this is called with the same name again."""
        return

    def end_step(self) -> None:
        """The training step is over."""
        return

    def time(self) -> VirtualTime | None:
        """The ``VirtualTime`` so far, on the leader; None if the group has no clock."""
        return None

    @abc.abstractmethod
    def send(self, rank: int, value: Any) -> None:
        """Send something to a rank, and do not wait for it."""

    @abc.abstractmethod
    def receive(self, rank: int) -> Any:
        """A message of a rank; messages come in the order in which it sent them."""

    def deal(self, pickled: Iterable[bytes] = ()) -> Any:
        """One of the leader's values for each rank, in order; it takes them one by one, pickled."""
        iterator = iter(pickled)
        own = None if self.rank else pickle.loads(next(iterator))
        for rank in range(1, self.size):
            if self.rank == 0:
                content = np.frombuffer(next(iterator), np.uint8)
                self.tell(len(content))
                self.exchange({rank: content}, {})
                continue
            size = self.tell()
            if rank != self.rank:
                self.exchange({}, {})
                continue
            content = np.empty(size, dtype=np.uint8)
            self.exchange({}, {0: content})
            own = pickle.loads(content.data)
        return own


class LoneGroup(Group):
    """The group of one process: it leads nobody."""

    def __init__(self) -> None:
        super().__init__(0, 1)

    def sum(self, values: IntArray) -> IntArray:
        return values

    def maximum(self, values: IntArray) -> IntArray:
        return values

    def tell(self, value: Any = None) -> Any:
        return value

    def gather(self, value: Any) -> list[Any]:
        return [value]

    def exchange(self, sent: Mapping[int, npt.NDArray[Any]],
                 received: Mapping[int, npt.NDArray[Any]]) -> None:
        return

    def send(self, rank: int, value: Any) -> None:
        raise NotImplementedError("a process alone has nobody to talk to")

    def receive(self, rank: int) -> Any:
        raise NotImplementedError("a process alone has nobody to talk to")
