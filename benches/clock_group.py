# SPDX-License-Identifier: BSD-2-Clause
"""Groups that carry no numbers: one notes a rank's actions, another has only clocks."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from hypercast.host.processes.group import Group
from hypercast.reference.array_types import IntArray
from hypercast.reference.sample import Sample

__all__ = ["Action", "ClockGroup", "Recorder", "on_clocks"]

_SECONDS = 600
Found = TypeVar("Found")


class Action(NamedTuple):
    """An action of all ranks at the same time in a step.

    Attributes
    ----------
    kind : str
        ``compute``, ``exchange``, ``sum`` or ``maximum``.
    layers : range
        The layers of ``compute``.
    forward : bool
        Whether ``compute`` is their forward pass.
    size : int
        Bytes of each row that crosses, or of the reduced array.
    """

    kind: str
    layers: range = range(0)
    forward: bool = False
    size: int = 0


class Recorder(Group):
    """The first of two ranks, whose other one has nothing but zeros.

    Attributes
    ----------
    actions : list of Action
        The device's actions in the last step.
    """

    def __init__(self) -> None:
        super().__init__(0, 2)
        self.actions: list[Action] = []

    def begin_step(self) -> None:
        self.actions = []

    def compute(self, sample: Sample, layers: range, *, forward: bool) -> None:
        self.actions.append(Action("compute", layers=layers, forward=forward))

    def sum(self, values: IntArray) -> IntArray:
        self.actions.append(Action("sum", size=values.nbytes))
        return values

    def maximum(self, values: IntArray) -> IntArray:
        self.actions.append(Action("maximum", size=values.nbytes))
        return values

    def exchange(self, sent: Mapping[int, npt.NDArray[Any]],
                 received: Mapping[int, npt.NDArray[Any]]) -> None:
        [rows] = sent.values()
        self.actions.append(Action("exchange", size=rows[0].nbytes))
        for values in received.values():
            values[:] = 0

    def tell(self, value: Any = None) -> Any:
        return value

    def gather(self, value: Any) -> list[Any]:
        return [value]

    def send(self, rank: int, value: Any) -> None:
        raise NotImplementedError

    def receive(self, rank: int) -> Any:
        raise NotImplementedError


class ClockGroup(Group):
    """A rank that is a thread. Maxima and gathered values pass, as clocks need them; rows do not.

    Parameters
    ----------
    rank, size
        As of ``Group``.
    values : list
        Each rank's value; all share the list.
    barrier : threading.Barrier
        Where they meet.
    """

    def __init__(self, rank: int, size: int, values: list[Any], barrier: Barrier) -> None:
        super().__init__(rank, size)
        self._values, self._barrier = values, barrier

    def _all(self, value: Any) -> list[Any]:
        self._values[self.rank] = value
        self._barrier.wait()
        found = list(self._values)
        self._barrier.wait()
        return found

    def sum(self, values: IntArray) -> IntArray:
        return values

    def maximum(self, values: IntArray) -> IntArray:
        found: IntArray = np.max(self._all(values), axis=0)
        return found

    def exchange(self, sent: Mapping[int, npt.NDArray[Any]],
                 received: Mapping[int, npt.NDArray[Any]]) -> None:
        return

    def tell(self, value: Any = None) -> Any:
        return self._all(value)[0]

    def gather(self, value: Any) -> list[Any]:
        found = self._all(value)
        return [] if self.rank else found

    def send(self, rank: int, value: Any) -> None:
        raise NotImplementedError

    def receive(self, rank: int) -> Any:
        raise NotImplementedError


def on_clocks(size: int, function: Callable[[Group], Found]) -> list[Found]:
    """Results of ``function(group)`` on each of so many ranks, in order."""
    values: list[Any] = [None] * size
    barrier = Barrier(size, timeout=_SECONDS)

    def run(rank: int) -> Found:
        try:
            return function(ClockGroup(rank, size, values, barrier))
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        return [future.result() for future in [pool.submit(run, rank) for rank in range(size)]]
