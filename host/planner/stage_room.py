# SPDX-License-Identifier: BSD-2-Clause
"""Room that boards have for stages of any operators, as searches of partitions ask for it."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from operator import add
from typing import NamedTuple

from hypercast.host.cluster.board import Board
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.size_limits import check_sizes
from hypercast.host.planner.chip_limits import (
    SURELY,
    SURELY_NOT,
    alone_length,
    count,
    lacks_unit,
    run_length,
)
from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.reference.network import LINEAR

__all__ = ["NONE_FIT", "StageRoom", "bits_of", "numbers_of"]

#: Why a search of partitions finds none, before what the boards lack.
NONE_FIT = "no stages fit the boards, however the network is divided"


def bits_of(numbers: Iterable[int]) -> int:
    """A set of operators as one number, with a bit for each."""
    return sum(1 << number for number in numbers)


def numbers_of(bits: int) -> tuple[int, ...]:
    """The operators of such a set, in ascending order."""
    return tuple(number for number in range(bits.bit_length()) if bits >> number & 1)


class StageRoom:
    """How many micro-batches a stage can have in flight on a board.

    The answers are as from ``shortage`` and ``stage_footprint``, for stages of one board each that
    are not alone. They are remembered. Stages are sets of operators, as of ``bits_of``.

    Counting a program takes a while. So where the layers, one by one, leave open whether their
    program is too long, it is not, until it is counted.

    Parameters
    ----------
    problem : Problem
        The training to plan, and its boards.
    """

    def __init__(self, problem: Problem) -> None:
        self._boards = problem.fastest
        kinds = {board.speed: board for board in problem.boards}
        self._kinds = {speed: _Kind(problem, board) for speed, board in kinds.items()}

    def in_flight(self, stage: int, board: Board) -> int:
        """The most micro-batches with which a stage fits a board; 0 if it does not fit at all.

        There are never more than a step has.
        """
        return self._kinds[board.speed].in_flight(stage)

    def settle(self, search: Callable[[], list[tuple[int, ...]]]) -> list[tuple[int, ...]]:
        """The stages that a search finds when the programs of all of them were counted.

        The search is repeated while it finds a program that is too long. So few are counted, and
        what it finds last is the best of all that fit.

        Parameters
        ----------
        search : callable
            Finds the operators of stages, one for each of the fastest boards.
        """
        while True:
            stages = search()
            fit = [self._kinds[board.speed].fits_counted(bits_of(stage))
                   for stage, board in zip(stages, self._boards, strict=False)]
            if all(fit):
                return stages


class _Own(NamedTuple):
    """An operator's part of a stage: words, rows of the weight bank, and instructions."""

    features: int
    gradients: int
    weight_rows: int
    kept_features: int
    kept_gradients: int
    kept_rows: int
    instructions: float

    @classmethod
    def of(cls, fixed: Footprint, kept: Footprint, instructions: float = 0) -> "_Own":
        """Words that there are once, and words for each micro-batch in flight."""
        return cls(fixed.features, fixed.gradients, fixed.weight_rows, kept.features,
                   kept.gradients, kept.weight_rows, instructions)


def _lists_of(statistics: Statistics, lists: Footprint) -> _Own:
    """Lists that all layers share: of a whole graph, or of each micro-batch in flight."""
    return _Own.of(*((Footprint(), lists) if statistics.sampled else (lists, Footprint())))


@dataclass(frozen=True)
class _Sum:
    """Sums over the operators of a stage, with sets of the things that they share."""

    own: _Own
    entries: int = 0
    border: int = 0
    owned: int = 0


class _Kind:
    """The room of one kind of board."""

    def __init__(self, problem: Problem, board: Board) -> None:
        self._problem, self._board = problem, board
        self._one_network = problem.is_one_network
        graph, statistics = problem.graph, problem.statistics
        places = {entry: place for place, entry in enumerate(
            frozenset().union(*problem.layer_entries))}
        borders = [problem.border(number, board) for number in range(len(problem.layers))]
        tensors = {key: room for border in borders for key, room in border.items()}
        self._rooms = [_Own.of(*((Footprint(), room.need) if room.kept else
                                 (room.need, Footprint()))) for room in tensors.values()]
        # Edges are the same for all layers of a graph, and so are there once.
        shared, self._lists = statistics.square, _Own.of(Footprint(), Footprint())
        self._reading = 0
        self._alone = []
        for number, layer in enumerate(problem.layers):
            cost, lists = graph.operators[number].on(board), problem.lists([number], board)
            roots = problem.root_lists([number], board)
            kept, fixed = cost.kept, cost.resident + cost.working
            if not shared:
                fixed, kept = (fixed, kept + lists) if statistics.sampled else (fixed + lists, kept)
            elif layer.network.layers[layer.number - 1].order != LINEAR:
                self._reading |= 1 << number
                self._lists = _lists_of(statistics, lists - roots)
            self._alone.append(_Sum(
                _Own.of(fixed, kept, self._instructions(number)),
                bits_of(places[entry] for entry in problem.layer_entries[number]),
                bits_of(place for place, key in enumerate(tensors) if key in borders[number]),
                bits_of(place for place, key in enumerate(tensors) if key[0] == number)))
        # Rows that are added have the same lists in all layers of a network, as edges have.
        self._sums = {0: _Sum(_lists_of(statistics, problem.root_lists(
            range(len(problem.layers)), board) if shared else Footprint()))}
        self._found: dict[int, int] = {}
        #: Runs of layers whose counted programs are too long. Programs of longer runs are too long,
        #: too.
        self._too_long: list[int] = []
        # Where a board has room for everything at once, it has room for every part of that.
        whole = 0
        for number in range(len(problem.layers)):
            whole |= 1 << number
            self._sum(whole)
        self._has_all = (self._flights(whole) == problem.micro_batches
                         and self._instructions_of(whole) <= SURELY * board.config.program_rows)

    def in_flight(self, stage: int) -> int:
        if self._has_all:
            return self._problem.micro_batches
        if stage not in self._found:
            self._found[stage] = self._flights(stage)
        flights = self._found[stage]
        return flights if flights and self._has_program(stage) else 0

    def fits_counted(self, stage: int) -> bool:
        """Whether the program memory has room for a stage, by counting if that is open."""
        fits = self._has_program(stage)
        if fits and self._open(stage):
            fits = count(lambda: run_length(self._problem, numbers_of(stage), self._board)[0]
                         ) <= self._board.config.program_rows
            if not fits:
                self._too_long.append(stage)
        return fits

    def _instructions(self, number: int) -> float:
        """Instructions of an operator alone; infinitely many if none could name its sizes."""
        statistics = self._problem.statistics
        try:
            check_sizes(self._problem.layers[number].network, statistics.vertices[-1],
                        self._board.config)
        except CapacityError:
            return math.inf
        return count(partial(alone_length, self._problem, number, self._board))

    def _instructions_of(self, stage: int) -> float:
        return self._sum(stage).own.instructions

    def _sum(self, stage: int) -> _Sum:
        if stage not in self._sums:
            last = stage.bit_length() - 1
            less, one = self._sum(stage ^ 1 << last), self._alone[last]
            self._sums[stage] = _Sum(_Own(*map(add, less.own, one.own)),
                                     less.entries | one.entries, less.border | one.border,
                                     less.owned | one.owned)
        return self._sums[stage]

    def _flights(self, stage: int) -> int:
        """As ``in_flight``, of all but the programs."""
        config, found = self._board.config, self._sum(stage)
        if found.entries.bit_count() > config.tensors or lacks_unit(self._problem, self._board):
            return 0
        own = found.own
        if stage & self._reading:
            own = _Own(*map(add, own, self._lists))
        for place in numbers_of(found.border & ~found.owned):
            own = _Own(*map(add, own, self._rooms[place]))
        flights = self._problem.micro_batches
        for have, fixed, kept in (
                (config.channel_words, own.features, own.kept_features),
                (config.channel_words, own.gradients, own.kept_gradients),
                (config.weight_rows, own.weight_rows, own.kept_rows)):
            if fixed + kept > have:
                return 0
            if kept:
                flights = min(flights, (have - fixed) // kept)
        return flights

    def _has_program(self, stage: int) -> bool:
        if self._open(stage):
            return not any(stage & run == run for run in self._too_long)
        return self._instructions_of(stage) <= self._board.config.program_rows

    def _open(self, stage: int) -> bool:
        """Whether the instructions of a stage have to be counted as a whole."""
        rows, run = self._board.config.program_rows, stage // (stage & -stage)
        return (SURELY * rows < self._instructions_of(stage) < SURELY_NOT * rows
                and self._one_network and not run & run + 1)
