# SPDX-License-Identifier: BSD-2-Clause
"""Works off a pipeline by a schedule: when each board does what."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from hypercast.host.schedules.pipeline import Edge, Pipeline
from hypercast.host.schedules.schedule import PipelineSchedule
from hypercast.host.schedules.simulation import Task, simulate
from hypercast.host.schedules.turns import one_forward_one_backward

__all__ = ["BACKWARD", "FORWARD", "PipelineInterval", "PipelineTimeline", "run"]

#: Directions in which micro-batches go.
FORWARD, BACKWARD = _DIRECTIONS = ("forward", "backward")


@dataclass(frozen=True, kw_only=True)
class PipelineInterval:
    """A stretch of time in which a board or a port was busy.

    Parameters
    ----------
    track : str
        The board, or of a transfer the ports.
    stage : int
        The stage; of a transfer, where it comes from.
    micro_batch : int
        The micro-batch.
    direction : str
        ``FORWARD`` or ``BACKWARD``.
    transfer : bool
        Whether it is a transfer.
    begin, end : float
        Seconds.
    """

    track: str
    stage: int
    micro_batch: int
    direction: str
    transfer: bool
    begin: float
    end: float


@dataclass(frozen=True)
class PipelineTimeline:
    """A pipeline's run in time.

    Parameters
    ----------
    intervals : tuple of PipelineInterval
        All of it.
    peaks : tuple of int
        For each stage, the most micro-batches that a board of it had in flight: begun forward, and
        not done backward.
    """

    intervals: tuple[PipelineInterval, ...]
    peaks: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """When all was done."""
        return max(interval.end for interval in self.intervals)


def run(pipeline: Pipeline, schedule: PipelineSchedule, micro_batches: int, *,
        in_flight: Sequence[int] | None = None, waiting: Collection[str] = ()) -> PipelineTimeline:
    """Simulate a mini-batch.

    Parameters
    ----------
    pipeline : Pipeline
        The stages.
    schedule : PipelineSchedule
        How they are worked off.
    micro_batches : int
        Micro-batches of the mini-batch, at least 1.
    in_flight : sequence of int, optional
        How many micro-batches a board of each stage may have in flight, instead of what the
        schedule says.
    waiting : collection of str
        Boards that do not compute while they send or receive.
    """
    limits = list(in_flight or schedule.in_flight(pipeline, micro_batches))
    work = _Work(pipeline, schedule, range(micro_batches), limits, frozenset(waiting))
    times = simulate(work.tasks)
    intervals = tuple(
        PipelineInterval(track=key.track, stage=key.stage, micro_batch=key.micro_batch,
                         direction=key.direction, transfer=key.edge is not None,
                         begin=begin, end=end)
        for key, (begin, end) in zip(work.keys, times, strict=True))
    return PipelineTimeline(intervals, tuple(_peaks(intervals, len(pipeline.stages))))


class _Key(NamedTuple):
    """The name of a task; a transfer has the number of its edge."""

    track: str
    stage: int
    edge: int | None
    direction: str
    micro_batch: int


class _Work:
    """The tasks of a mini-batch."""

    def __init__(self, pipeline: Pipeline, schedule: PipelineSchedule, micro_batches: range,
                 limits: Sequence[int], waiting: frozenset[str]) -> None:
        self._pipeline = pipeline
        self._schedule = schedule
        self._micro_batches = micro_batches
        self._waiting = waiting
        self.keys = [*self._compute_keys(), *self._transfers()]
        self._numbers = {(key.stage, key.edge, key.direction, key.micro_batch): number
                         for number, key in enumerate(self.keys)}
        self._before: dict[int, list[int]] = defaultdict(list)
        for stage, limit in enumerate(limits):
            for board in range(len(pipeline.stages[stage].boards)):
                self._order(stage, micro_batches[board::len(pipeline.stages[stage].boards)], limit)
        self.tasks = [self._compute(key, number) if key.edge is None else
                      self._transfer(key, pipeline.edges[key.edge])
                      for number, key in enumerate(self.keys)]

    def _compute_keys(self) -> Iterator[_Key]:
        for stage, _ in enumerate(self._pipeline.stages):
            for direction in _DIRECTIONS:
                for micro_batch in self._micro_batches:
                    yield _Key(self._board(stage, micro_batch), stage, None, direction,
                               micro_batch)

    def _transfers(self) -> Iterator[_Key]:
        # Of what a stage has made, that is sent first from which most stages are still to come.
        for direction in _DIRECTIONS:
            forward = direction == FORWARD
            left = self._pipeline.stages_left(forward)
            for number, edge in sorted(enumerate(self._pipeline.edges), key=lambda item: -left[
                    item[1].ends(forward)[1]]):
                if edge.seconds(forward) is not None:
                    for micro_batch in self._micro_batches:
                        yield _Key(" to ".join(edge.ports(forward)), edge.ends(forward)[0], number,
                                   direction, micro_batch)

    def _board(self, stage: int, micro_batch: int) -> str:
        """The board that takes a micro-batch at a stage."""
        boards = self._pipeline.stages[stage].boards
        return boards[micro_batch % len(boards)] or f"stage {stage}"

    def _order(self, stage: int, micro_batches: range, limit: int) -> None:
        """Have a board's tasks wait for each other."""
        forward, backward = ([self._numbers[stage, None, direction, one] for one in micro_batches]
                             for direction in _DIRECTIONS)
        if self._schedule.two_engines:
            chains = [forward, backward, *zip(backward, forward[limit:], strict=False)]
        elif self._schedule.forward_first:
            chains = [forward + backward]
        else:
            chains = [[(forward if goes_forward else backward)[one] for goes_forward, one
                       in one_forward_one_backward(limit, len(micro_batches))]]
        for chain in chains:
            for before, after in pairwise(chain):
                self._before[after].append(before)

    def _compute(self, key: _Key, number: int) -> Task:
        stage = self._pipeline.stages[key.stage]
        forward = key.direction == FORWARD
        seconds = stage.forward if forward else stage.backward
        if self._schedule.two_engines:
            seconds = stage.forward + stage.backward
        after = [*self._before[number]]
        if not forward:
            after.append(self._numbers[key.stage, None, FORWARD, key.micro_batch])
        for place, edge in enumerate(self._pipeline.edges):
            source, target = edge.ends(forward)
            if target == key.stage and edge.seconds(forward) is not None:
                after.append(self._numbers[source, place, key.direction, key.micro_batch])
                # Of what comes while it is made, the last row is made at the end.
                after.append(self._numbers[source, None, key.direction, key.micro_batch])
        engine = f"{key.track}, {key.direction}" if self._schedule.two_engines else key.track
        return Task(name=f"{stage.name} {key.direction} {key.micro_batch}", seconds=seconds,
                    resources=(engine,), after=tuple(after))

    def _transfer(self, key: _Key, edge: Edge) -> Task:
        forward = key.direction == FORWARD
        source, target = edge.ends(forward)
        made = (self._numbers[source, None, key.direction, key.micro_batch],)
        boards = {self._board(source, key.micro_batch), self._board(target, key.micro_batch)}
        hidden, seconds = self._schedule.hidden, edge.seconds(forward)
        assert seconds is not None
        return Task(name=f"{key.track} {key.micro_batch}", seconds=seconds,
                    latency=edge.latency,
                    resources=(*edge.ports(forward), *sorted(boards & self._waiting)),
                    after=() if hidden else made, beside=made if hidden else ())


def _peaks(intervals: Sequence[PipelineInterval], stages: int) -> list[int]:
    """The most micro-batches that a board of each stage has in flight."""
    changes = sorted(
        ((interval.begin, 1, interval) if interval.direction == FORWARD
         else (interval.end, -1, interval)
         for interval in intervals if not interval.transfer), key=lambda change: change[:2])
    of_board: dict[tuple[int, str], list[int]] = defaultdict(list)
    for _, change, interval in changes:
        of_board[interval.stage, interval.track].append(change)
    return [max(max(accumulate(found)) for (one, _), found in of_board.items() if one == stage)
            for stage in range(stages)]
