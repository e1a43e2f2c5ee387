# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a training step, for the planner: operators, their costs, and edges between them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Self

from hypercast.errors import InputError
from hypercast.host.cluster.board import Board
from hypercast.host.compiler.memory_map import remedy

__all__ = ["IN_FILE", "Cost", "Footprint", "Operator", "OperatorGraph", "size_text"]

#: How to change a chip of a cluster.
IN_FILE = "in the cluster's file:"


def size_text(size: float) -> str:
    """Bytes as text."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size / 1e3:.3g} kB"


@dataclass(frozen=True)
class Footprint:
    """Room that something takes in every core of a board.

    Parameters
    ----------
    features, gradients : int
        Words of the two memory channels.
    weight_rows : int
        Rows of the weight bank.
    """

    features: int = 0
    gradients: int = 0
    weight_rows: int = 0

    def __add__(self, other: "Footprint") -> "Footprint":
        return Footprint(self.features + other.features, self.gradients + other.gradients,
                         self.weight_rows + other.weight_rows)

    def __sub__(self, other: "Footprint") -> "Footprint":
        return Footprint(self.features - other.features, self.gradients - other.gradients,
                         self.weight_rows - other.weight_rows)

    def times(self, count: float) -> "Footprint":
        """The room that ``count`` of it take, or a part of one."""
        return Footprint(*(math.ceil(one * count)
                           for one in (self.features, self.gradients, self.weight_rows)))

    def bytes_on(self, board: Board) -> int:
        """Bytes of all cores' memory channels."""
        config = board.config
        return (self.features + self.gradients) * config.cores * config.word_width // 8

    def excess(self, board: Board, share: str) -> str:
        """The memory that a board lacks for its ``share``, and the remedy; empty if it fits."""
        config, most = board.config, max(self.features, self.gradients)
        if most > config.channel_words:
            return (f"{board.name} ({board.kind}) has {size_text(board.memory)}, but "
                    f"{most / config.channel_words:.3g} times that are needed for {share}; take "
                    f"more boards that share the graph or the layers (--scheme), smaller samples, "
                    f"or boards with more memory")
        if self.weight_rows > config.weight_rows:
            return (f"{board.name} ({board.kind}) has a weight bank of {config.weight_rows} rows, "
                    f"but {self.weight_rows} are needed for {share}; "
                    f"{remedy(config, 'weight_rows', self.weight_rows, IN_FILE)}")
        return ""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of an operator on a kind of board.

    Parameters
    ----------
    forward, backward : float
        Seconds of a micro-batch; backward with the gradients of weights.
    resident : Footprint
        Weights, and what the optimiser knows of them.
    kept : Footprint
        What each micro-batch in flight needs from its way forward until its way back.
    working : Footprint
        What only the micro-batch at work needs.
    """

    forward: float
    backward: float
    resident: Footprint = Footprint()
    kept: Footprint = Footprint()
    working: Footprint = Footprint()

    @property
    def seconds(self) -> float:
        """Both ways."""
        return self.forward + self.backward


@dataclass(frozen=True, kw_only=True)
class Operator:
    """A layer, or a part of one.

    Parameters
    ----------
    name : str
        Name of the operator.
    costs : dict
        What it costs on each kind of board, by ``Board.speed``.
    output : int
        Bytes of its result for a micro-batch; its gradient has as many.
    mask : int
        Bytes that say which of its results are kept: what takes their gradient needs them.
    weights : int
        Elements of its weights.
    """

    name: str
    costs: Mapping[tuple[int, float], Cost]
    output: int
    mask: int = 0
    weights: int

    def on(self, board: Board) -> Cost:
        """The operator's cost on a board."""
        return self.costs[board.speed]


@dataclass(frozen=True)
class OperatorGraph:
    """Operators, and which reads which.

    Parameters
    ----------
    operators : tuple of Operator
        Each after the operators that it reads.
    edges : tuple of (int, int)
        Numbers of an operator and of a reader of its result.
    skips : tuple of (int, int, int)
        The edges of branches, jumping knowledge and an initial residual, each with the operator
        that takes its gradient, and adds it to its own.

    Raises
    ------
    InputError
        If there is none, or some read each other in a circle.
    """

    operators: tuple[Operator, ...]
    edges: tuple[tuple[int, int], ...]
    skips: tuple[tuple[int, int, int], ...] = ()

    def __post_init__(self) -> None:
        if not self.operators:
            raise InputError("there is no operator; a network needs at least one layer")
        graph: dict[int, set[int]] = {number: set() for number in range(len(self.operators))}
        for source, target in self.edges:
            graph[target].add(source)
        try:
            order = list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            names = " to ".join(self.operators[number].name for number in reversed(error.args[1]))
            raise InputError(f"operators read each other in a circle: {names}") from error
        if any(source >= target for source, target in self.edges):
            raise InputError(f"operators come after those they read, such as "
                             f"{', '.join(self.operators[number].name for number in order)}")

    @classmethod
    def chain(cls, operators: Sequence[Operator]) -> Self:
        """Operators in a chain: each reads the one before."""
        return cls(tuple(operators),
                   tuple((number, number + 1) for number in range(len(operators) - 1)))

    @cached_property
    def readers(self) -> tuple[tuple[int, ...], ...]:
        """For each operator, its readers."""
        return tuple(tuple(target for source, target in self.edges if source == number)
                     for number in range(len(self.operators)))

    @cached_property
    def sources(self) -> tuple[tuple[int, ...], ...]:
        """For each operator, the operators that it reads."""
        return tuple(tuple(source for source, target in self.edges if target == number)
                     for number in range(len(self.operators)))

    @property
    def is_chain(self) -> bool:
        """Whether each reads the one before and nothing else."""
        return self.edges == tuple((one, one + 1) for one in range(len(self.operators) - 1))

    def seconds(self, numbers: Iterable[int], board: Board) -> float:
        """Seconds of a micro-batch, both ways, of some operators on a board."""
        return sum(self.operators[number].on(board).seconds for number in numbers)

    def cut(self, sources: Iterable[int], targets: Iterable[int]) -> int:
        """Bytes of the results of some operators that some others read, each result once."""
        wanted = {*targets}
        return sum(self.operators[number].output for number in {*sources}
                   if wanted.intersection(self.readers[number]))

    def crossing(self, sources: Iterable[int], targets: Iterable[int], *, forward: bool) -> int:
        """Bytes that a stage of some operators sends to another one, which reads its results.

        Parameters
        ----------
        sources, targets : iterable of int
            Operators of the stage that makes the results, and of the stage that reads them.
        forward : bool
            Whether results go to ``targets``; else their gradients come back to ``sources``. What
            operators of both stages add to a gradient is added up in ``sources``.
        """
        made, read = {*sources}, {*targets}
        skipping = {(source, target) for source, target, _ in self.skips}
        plain = {source for source, target in self.edges
                 if source in made and target in read and (source, target) not in skipping}
        if forward:
            found = {source for source, target in self.edges if source in made and target in read}
            return sum(self.operators[number].output for number in found) + sum(
                self.operators[number].mask for number in plain)
        return sum(self.operators[number].output for number in (*plain, *(
            source for source, *ends in self.skips
            if (ends[0] in read and ends[1] in made) or (ends[0] in made and ends[1] in read))))
