# SPDX-License-Identifier: BSD-2-Clause
"""A group whose messages take the virtual time that they would on a cluster's links."""

import bisect
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.host.cluster.board import NO_OVERLAP, Board
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.reduction import reduction_seconds
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.processes.clock import BusyInterval, Clock
from hypercast.host.processes.group import Group
from hypercast.host.processes.virtual_time import Seconds, VirtualTime
from hypercast.reference.array_types import IntArray
from hypercast.reference.sample import Sample

__all__ = ["Inlet", "TimedGroup", "boards_of"]


def boards_of(cluster: Cluster, count: int) -> tuple[Board, ...]:
    """The boards of the first ranks; raises ``DescriptionError`` if the cluster has fewer."""
    if len(cluster.boards) < count:
        raise DescriptionError(f"{count} boards train, but the cluster has "
                               f"{len(cluster.boards)}; take no more, or describe more")
    return cluster.boards[:count]


class TimedGroup(Group):
    """Passes everything on to another group, and moves this board's clock.

    A message leaves when the sender has come to it and its port is free. It passes when the
    receiver's port is free, too, and is there when its last byte has passed the slowest part of its
    way. A board that cannot compute while rows pass waits
    until they have. Sums begin when all boards have come, and take ``reduction_seconds``. What the
    leader tells takes no time: boards would be told once.

    Parameters
    ----------
    group : Group
        The other group.
    cluster : Cluster
        Has a board for each rank, each two of them joined.
    seconds : callable
        Gives the seconds of each layer for a sample on a board.

    Raises
    ------
    DescriptionError
        If the cluster has fewer boards, or two of them are not joined.
    """

    def __init__(self, group: Group, cluster: Cluster, seconds: Seconds) -> None:
        super().__init__(group.rank, group.size)
        self._group = group
        self._seconds = seconds
        boards = boards_of(cluster, group.size)
        self._names = [board.name for board in boards]
        self._clocks = [board.clock for board in boards]
        self._routes = {(one, other): cluster.route(boards[one], boards[other])
                        for one in range(group.size) for other in range(group.size)
                        if one != other}
        self._waiting = [board.transfers == NO_OVERLAP for board in boards]
        self._free: dict[str, float] = {}
        self._inlet = Inlet()  # of messages that are not exchanged
        self._late = ""  # what is exchanged next, if it is needed later
        self._arrivals: dict[str, float] = {}
        self._clock = Clock(self._names[group.rank])
        self._timed = False  # whether a step is under way
        self._steps = 0
        self._alone = 0.0  # seconds that the first board would have computed for this rank
        self._whole: float | None = None  # that it would compute for a step of all ranks

    def begin_step(self) -> None:
        self._clock.intervals.clear()
        self._steps += 1
        self._timed = True

    def end_step(self) -> None:
        self._timed = False

    def compute(self, sample: Sample, layers: range, *, forward: bool) -> None:
        own, first = (sum(one.forward if forward else one.backward for one in self._seconds(
            sample, board)[layers.start - 1:layers.stop - 1]) for board in (self.rank, 0))
        numbers = f"{layers[0]}" if len(layers) == 1 else f"{layers[0]} to {layers[-1]}"
        self._clock.compute(own, f"{'forward' if forward else 'backward'} {numbers}")
        self._alone += first

    def spend(self, name: str, cycles: int) -> None:
        self._clock.compute(cycles / self._clocks[self.rank], name)
        self._alone += cycles / self._clocks[0]

    def ahead(self, name: str) -> None:
        self._clock.wait(self._arrivals.get(name, 0.0))
        self._late = name

    def divide(self, seconds: float) -> None:
        self._whole = seconds

    def time(self) -> VirtualTime | None:
        clock = self._clock
        parts = self._group.gather(
            (clock.board, clock.now, clock.computed, clock.waited, self._alone, clock.intervals))
        if not parts or not self._steps:
            return None
        names, ends, computed, waited, alone, intervals = zip(*parts, strict=True)
        return VirtualTime(
            steps=self._steps, boards=names, seconds=max(ends), computed=computed, waited=waited,
            alone=sum(alone) if self._whole is None else self._steps * self._whole,
            intervals=tuple(interval for part in intervals for interval in part))

    def sum(self, values: IntArray) -> IntArray:
        found = self._group.sum(values)
        self._reduce(values.nbytes)
        return found

    def maximum(self, values: IntArray) -> IntArray:
        found = self._group.maximum(values)
        self._reduce(values.nbytes)
        return found

    def _reduce(self, size: int) -> None:
        """All boards have come, and all have what is reduced."""
        if not self._timed:
            return
        begin = self._latest()
        self._inlet.clear()
        seconds = reduction_seconds(self._routes.values(), self.size, size)
        self._clock.intervals.append(
            BusyInterval(f"{self._clock.board}, out", "sum", begin, begin + seconds))
        self._clock.wait(begin + seconds)

    def _latest(self) -> float:
        """The latest clock of all boards."""
        [bits] = self._group.maximum(np.array([self._clock.now]).view(np.int64))
        return float(np.array([bits]).view(np.float64)[0])

    def exchange(self, sent: Mapping[int, npt.NDArray[Any]],
                 received: Mapping[int, npt.NDArray[Any]]) -> None:
        if not self._timed:
            self._group.exchange(sent, received)
            return
        # Everybody knows all messages, and works out when they pass.
        sizes = np.zeros((self.size, self.size + 1), dtype=np.int64)
        for rank, values in sent.items():
            sizes[self.rank, rank] = values.nbytes
        sizes[self.rank, -1] = np.array([self._clock.now]).view(np.int64)[0]
        sizes = self._group.maximum(sizes)
        begun = sizes[:, -1].copy().view(np.float64)
        self._group.exchange(sent, received)
        arrivals = [self._clock.now]
        own = self.rank
        # In turns, so that no two send to the same one at the same time.
        for turn in range(1, self.size):
            for source in range(self.size):
                target = (source + turn) % self.size
                if sizes[source, target]:
                    ready = max(begun[source], begun[target]) if self._waiting[target] \
                        else begun[source]
                    end = self._transfer(source, target, int(sizes[source, target]),
                                         float(ready), "rows")
                    if target == own or (source == own and self._waiting[own]):
                        arrivals.append(end)
        late, self._late = self._late, ""
        if late and late in self._arrivals and not self._waiting[own]:
            self._arrivals[late] = max(arrivals)
            return
        self._arrivals[late] = 0.0
        self._clock.wait(max(arrivals))

    def _transfer(self, source: int, target: int, size: int, ready: float, name: str) -> float:
        """When a message is there; its ports are busy until then."""
        route = self._routes[source, target]
        begin = max(ready, *(self._free.get(port, 0.0) for port in route.ports))
        end = begin + size / route.bandwidth
        for port in route.ports:
            self._free[port] = end
        if source == self.rank:
            self._clock.intervals.append(
                BusyInterval(f"{self._clock.board}, out", f"{name} to {self._names[target]}",
                             begin, end))
        return end + route.latency

    def send(self, rank: int, value: Any) -> None:
        size = _array_bytes(value)
        end = self._transfer(self.rank, rank, size, self._clock.now, "rows") if self._timed else 0.0
        self._group.send(rank, (value, end, size))
        if self._timed and self._waiting[self.rank]:
            self._clock.wait(end - self._routes[self.rank, rank].latency)

    def receive(self, rank: int) -> Any:
        value, end, size = self._group.receive(rank)
        if self._timed:
            route = self._routes[rank, self.rank]
            seconds = size / route.bandwidth
            end = self._inlet.arrival(end - route.latency - seconds, seconds) + route.latency
            if self._waiting[self.rank]:
                end = max(end, self._clock.now + route.seconds(size))
        self._clock.wait(end)
        return value

    def tell(self, value: Any = None) -> Any:
        return self._group.tell(value)

    def gather(self, value: Any) -> list[Any]:
        return self._group.gather(value)


class Inlet:
    """A way into a board: messages pass one at a time, in the first time that is left for each."""

    def __init__(self) -> None:
        self._begins: list[float] = []
        self._ends: list[float] = []

    def arrival(self, ready: float, seconds: float) -> float:
        """When a message is there that takes some seconds, and can begin when it is ready.

        Messages may be asked for in another order than they get ready. Messages that were asked for
        before keep their time. A message that takes no time waits for none.
        """
        if not seconds:
            return ready
        place, begin = bisect.bisect_right(self._ends, ready), ready
        while place < len(self._begins) and begin + seconds > self._begins[place]:
            begin = self._ends[place]
            place += 1
        self._begins.insert(place, begin)
        self._ends.insert(place, begin + seconds)
        return begin + seconds

    def clear(self) -> None:
        """Forget what has passed, when all that comes will be ready later."""
        self._begins.clear()
        self._ends.clear()


def _array_bytes(value: Any) -> int:
    """Bytes of the arrays in tuples and dictionaries."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    parts = value.values() if isinstance(value, Mapping) else \
        value if isinstance(value, tuple) else ()
    return sum(map(_array_bytes, parts))
