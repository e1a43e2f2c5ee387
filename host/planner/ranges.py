# SPDX-License-Identifier: BSD-2-Clause
"""Ranges of consecutive layers: what they cost, and how they are dealt to boards most evenly."""

import itertools
import math
from collections.abc import Sequence
from functools import partial

from hypercast.host.cluster.board import Board
from hypercast.host.planner.chip_limits import (
    SURELY_NOT,
    alone_length,
    count,
    lacks_unit,
    run_length,
)
from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.pipelines import BoardStage
from hypercast.host.planner.problem import Problem

__all__ = ["Ranges", "refusal"]


class Ranges:
    """Sums over consecutive layers, as differences of sums over all layers before.

    Parameters
    ----------
    problem : Problem
        The training to plan, and its boards.
    chunks : int
        Into how many chunks of vertices programs take a micro-batch.
    """

    def __init__(self, problem: Problem, chunks: int = 1) -> None:
        self.problem = problem
        self.count = len(problem.layers)
        graph, numbers = problem.graph, range(self.count)
        kinds = {board.speed: board for board in problem.boards}
        self._seconds = {speed: list(itertools.accumulate(
            (graph.operators[one].on(board).seconds for one in numbers), initial=0.0))
            for speed, board in kinds.items()}
        self._resident, self._kept, self._working = (
            {speed: list(itertools.accumulate(
                (getattr(graph.operators[one].on(board), part) for one in numbers),
                initial=Footprint())) for speed, board in kinds.items()}
            for part in ("resident", "kept", "working"))
        self._lists = {speed: list(itertools.accumulate(
            (problem.lists([one], board) for one in numbers), initial=Footprint()))
            for speed, board in kinds.items()}
        # Edges are the same for all layers of a graph, and so are there once.
        self._shared = {speed: problem.lists(range(self.count), board)
                        for speed, board in kinds.items()}
        self._others: dict[tuple[int, int, tuple[int, float]], tuple[Footprint, Footprint]] = {}
        self._part = part = problem.statistics.largest(chunks)
        self._lengths = {speed: list(itertools.accumulate(
            (count(partial(alone_length, problem, one, board, part)) for one in numbers),
            initial=0.0)) for speed, board in kinds.items()}
        #: Entries of the exponent file that the layers from one on need, up to each.
        self._entries = [[len(entries) for entries in itertools.accumulate(
            problem.layer_entries[begin:], lambda before, one: before | one)]
            for begin in numbers]
        #: Bytes between the layers before one and the layers from it on.
        self.cuts = [graph.cut(range(begin), range(begin, self.count))
                     for begin in range(self.count)]

    def seconds(self, begin: int, end: int, board: Board) -> float:
        """Seconds of a micro-batch, both ways."""
        sums = self._seconds[board.speed]
        return sums[end] - sums[begin]

    def fits_chip(self, begin: int, end: int, board: Board) -> bool:
        """Whether a board's chip has the entries and instructions that some layers need."""
        lengths, config = self._lengths[board.speed], board.config
        if self._entries[begin][end - begin - 1] > config.tensors or lacks_unit(
                self.problem, board):
            return False
        about = lengths[end] - lengths[begin]
        if not config.program_rows < about < SURELY_NOT * config.program_rows:
            return about <= config.program_rows
        return count(lambda: run_length(self.problem, range(begin, end), board,
                                         statistics=self._part)[0]) <= config.program_rows

    def fits(self, begin: int, end: int, board: Board, in_flight: int) -> bool:
        """Whether a board has room for some layers, and micro-batches in flight."""
        config = board.config
        if not self.fits_chip(begin, end, board):
            return False

        def between(sums: dict[tuple[int, float], list[Footprint]]) -> Footprint:
            return sums[board.speed][end] - sums[board.speed][begin]

        key = begin, end, board.speed
        if key not in self._others:
            self._others[key] = self.problem.border_of(range(begin, end), board)
        kept, working = self._others[key]
        kept += between(self._kept)
        need = between(self._resident) + between(self._working) + working
        if self.problem.statistics.sampled:
            kept += between(self._lists)
        elif self.problem.statistics.square:
            need += self._shared[board.speed]
        need += kept.times(in_flight)
        return max(need.features, need.gradients) <= config.channel_words \
            and need.weight_rows <= config.weight_rows

    def balance(self, boards: Sequence[Board], *, single: bool = False) -> list[BoardStage] | None:
        """Layers for each board so that the slowest is as fast as it can be; None if none fit.

        By dynamic programming from the last board on. A cut is forbidden if its transfer takes
        longer than the slowest board.

        Parameters
        ----------
        boards : sequence of Board
            The boards in the order of the layers.
        single : bool
            Whether there is one micro-batch in flight, in all boards together.
        """
        count, most = len(boards), self.problem.micro_batches
        # Of the layers from one on, on the last boards: the slowest board, and where the first ends
        best = {(self.count, 0): (0.0, self.count)}
        for behind in range(1, count + 1):
            board = boards[count - behind]
            flight = 1 if single else min(behind, most)
            for begin in range(count - behind, self.count - behind + 1):
                found = (math.inf, -1)
                for end in range(begin + 1, self.count - behind + 2):
                    own = self.seconds(begin, end, board)
                    if own >= found[0]:
                        break
                    rest = best.get((end, behind - 1), (math.inf, -1))[0]
                    if rest == math.inf or not self.fits(begin, end, board, flight):
                        continue
                    if behind > 1:
                        route = self.problem.cluster.route(board, boards[count - behind + 1])
                        rest = max(rest, self.cuts[end] / route.bandwidth)
                    found = min(found, (max(own, rest), end))
                if found[1] >= 0:
                    best[begin, behind] = found
        if (0, count) not in best:
            return None
        stages, begin = [], 0
        for behind in range(count, 0, -1):
            end = best[begin, behind][1]
            stages.append(BoardStage(tuple(range(begin, end)), (boards[count - behind],)))
            begin = end
        return stages


def refusal(problem: Problem) -> str:
    """Why no pipeline of stages is possible, as text; empty if one may be."""
    if len(problem.boards) < 2:
        return "there is one board only"
    if len(problem.layers) < 2:
        return "there is one layer only"
    return ""
