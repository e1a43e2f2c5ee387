# SPDX-License-Identifier: BSD-2-Clause
"""Pipelines: stages through which micro-batches go forward, and back."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Self

from hypercast.errors import InputError

__all__ = ["Edge", "Pipeline", "Stage"]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A stage: one board's work on each micro-batch, or of several boards in turn.

    Parameters
    ----------
    name : str
        Name of the stage.
    forward, backward : float
        Seconds of a micro-batch.
    boards : tuple of str
        Boards that have it; they take micro-batches in turn.
    """

    name: str
    forward: float
    backward: float
    boards: tuple[str, ...] = ("",)

    @property
    def seconds(self) -> float:
        """Seconds that a micro-batch takes, of all boards together."""
        return (self.forward + self.backward) / len(self.boards)


@dataclass(frozen=True, kw_only=True)
class Edge:
    """The traffic from one stage to another with each micro-batch, and back as a gradient.

    Parameters
    ----------
    source, target : int
        Numbers of the stages.
    forward, backward : float or None
        Seconds of a transfer; None if nothing crosses that way.
    latency : float
        Seconds after it until it is there.
    forward_ports, backward_ports : tuple of str
        What no other transfer can use meanwhile.
    """

    source: int
    target: int
    forward: float | None
    backward: float | None
    latency: float = 0.0
    forward_ports: tuple[str, ...] = ()
    backward_ports: tuple[str, ...] = ()

    def seconds(self, forward: bool) -> float | None:
        """Seconds of a transfer in a direction; None if nothing crosses that way."""
        return self.forward if forward else self.backward

    @property
    def transfers(self) -> list[float]:
        """Seconds of what crosses, one way and the other."""
        return [one for one in (self.forward, self.backward) if one is not None]

    def ends(self, forward: bool) -> tuple[int, int]:
        """The stages that send and receive, in a direction."""
        return (self.source, self.target) if forward else (self.target, self.source)

    def ports(self, forward: bool) -> tuple[str, ...]:
        """The ports in a direction."""
        return self.forward_ports if forward else self.backward_ports


@dataclass(frozen=True)
class Pipeline:
    """Stages that form a directed graph without circles.

    Parameters
    ----------
    stages : tuple of Stage
        The stages.
    edges : tuple of Edge
        What leads from one to another.

    Raises
    ------
    InputError
        If there is no stage, or a circle of them.
    """

    stages: tuple[Stage, ...]
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        if not self.stages:
            raise InputError("a pipeline needs at least one stage")
        assert self.order  # raises what a circle is

    @classmethod
    def chain(cls, stages: Sequence[Stage], transfers: Sequence[float] = ()) -> Self:
        """Stages one after another, with the seconds of the transfers between them.

        Each transfer has ports of its own.
        """
        transfers = list(transfers) or [0.0] * (len(stages) - 1)
        return cls(tuple(stages), tuple(
            Edge(source=number, target=number + 1, forward=seconds, backward=seconds,
                 forward_ports=(f"after {number}, forward",),
                 backward_ports=(f"after {number}, backward",))
            for number, seconds in enumerate(transfers)))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Numbers of the stages, each after the stages that lead to it."""
        graph: Mapping[int, set[int]] = {number: set() for number in range(len(self.stages))}
        for edge in self.edges:
            graph[edge.target].add(edge.source)
        try:
            return tuple(TopologicalSorter(graph).static_order())
        except CycleError as error:
            names = " to ".join(self.stages[number].name or str(number)
                                for number in reversed(error.args[1]))
            raise InputError(f"stages form a circle: {names}") from error

    def stages_left(self, forward: bool) -> list[int]:
        """The most stages on a way from each stage to an end, in a direction."""
        found = [0] * len(self.stages)
        for number in self.order[::-1] if forward else self.order:
            for edge in self.edges:
                source, target = edge.ends(forward)
                if source == number:
                    found[number] = max(found[number], found[target] + 1)
        return found

    def out_of(self, stage: int) -> Iterator[Edge]:
        """The edges that lead from a stage."""
        return (edge for edge in self.edges if edge.source == stage)

    @property
    def period(self) -> float:
        """Seconds a micro-batch that the slowest stage or transfer takes."""
        return max([stage.seconds for stage in self.stages]
                   + [seconds for edge in self.edges for seconds in edge.transfers])

    def in_flight(self, hidden: bool) -> list[int]:
        """How many micro-batches a board of each stage has begun, and not done, at most.

        A micro-batch comes back to a stage after it went through the stages behind it. Meanwhile
        the stage begins one in every period. Its boards share what the stage has in flight.

        Parameters
        ----------
        hidden : bool
            Whether transfers take place while rows are made, and so take no time of their own.
        """
        found = [len(stage.boards) for stage in self.stages]
        for number in reversed(self.order):
            stage = self.stages[number]
            for edge in self.out_of(number):
                trip = stage.forward + stage.backward
                if not hidden:
                    trip += sum(seconds + edge.latency for seconds in edge.transfers)
                turns = math.ceil(trip / self.period - 1e-9)
                found[number] = max(found[number], found[edge.target] + max(turns, 1))
        return self.per_board(found)

    def per_board(self, counts: Sequence[int]) -> list[int]:
        """The most that a board of each stage has of the stage's ``counts`` of micro-batches."""
        return [math.ceil(count / len(stage.boards))
                for count, stage in zip(counts, self.stages, strict=True)]
