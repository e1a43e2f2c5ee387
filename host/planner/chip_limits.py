# SPDX-License-Identifier: BSD-2-Clause
"""Fixed sizes of a chip: whether the needs of some layers fit them, by the compiler."""

import math
from collections.abc import Callable, Sequence

from hypercast.host.cluster.board import Board
from hypercast.host.compiler.memory_map import CapacityError, remedy
from hypercast.host.compiler.piece_program import PIECES
from hypercast.host.compiler.program_length import program_length
from hypercast.host.compiler.size_limits import check_sizes
from hypercast.host.planner.operators import IN_FILE
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.rtl.config import LARGEST_PROGRAM

__all__ = ["SUMMED", "SURELY", "SURELY_NOT", "alone_length", "count", "lacks_unit",
           "programs_of_one", "run_length", "shortage"]

#: Programs of a board that has all layers, and samples of its own.
SUMMED = ("step_sums", "update", "evaluate")
#: A program is counted as a whole if it may be too long: if its layers, one by one, take more than
#: this share of the program memory. It is surely too long if they take more than the second one.
SURELY, SURELY_NOT = 2 / 3, 1.5
_WHAT = {"tensors": "entries of the exponent file", "program_rows": "rows of program memory"}


def programs_of_one(problem: Problem) -> tuple[str, ...]:
    """Programs of a board that trains alone."""
    if not problem.statistics.sampled:
        return "load", "train", "evaluate"
    return SUMMED if problem.micro_batches > 1 else ("train", "evaluate")


def lacks_unit(problem: Problem, board: Board) -> bool:
    """Whether a board's chip has no unit for the optimiser."""
    return problem.adam and not board.config.adam


def shortage(problem: Problem, layers: Sequence[int], board: Board, share: str,
             names: tuple[str, ...] = PIECES, statistics: Statistics | None = None,
             halo: int = 0) -> str:
    """The size of a board's chip that is too small, as text; empty if the compiler refuses nothing.

    Parameters
    ----------
    problem : Problem
        The training to plan, and its boards.
    layers : sequence of int
        Numbers of the board's layers, from 0.
    board : Board
        The board.
    share : str
        What they are called.
    names : tuple of str
        Programs, as of ``program_length``.
    statistics : Statistics, optional
        What the board works on, if it is not the problem's.
    halo : int
        Rows of others that it reads.
    """
    config, statistics = board.config, statistics or problem.statistics
    if lacks_unit(problem, board):
        return (f"{board.name} ({board.kind}) has no unit for the optimiser adam; give it one "
                f"({IN_FILE} adam=true), or train with sgd (--optimiser sgd)")
    try:
        for network in {problem.layers[layer].network for layer in layers}:
            check_sizes(network, statistics.vertices[-1], config)
        entries = len(frozenset().union(*(problem.layer_entries[layer] for layer in layers)))
        if entries > config.tensors:
            return _describe_lack(board, "tensors", entries, str(entries), share)
        length, exact = run_length(problem, layers, board, names, statistics, halo)
    except CapacityError as error:
        return f"{board.name} ({board.kind}): {error}"
    if length <= config.program_rows:
        return ""
    text = f"{'' if exact else 'about '}{length}" if length <= LARGEST_PROGRAM else \
        f"more than {LARGEST_PROGRAM}"
    return _describe_lack(board, "program_rows", length, text, share)


def _describe_lack(board: Board, field: str, needed: int, text: str, share: str) -> str:
    config = board.config
    return (f"{board.name} ({board.kind}) has {getattr(config, field)} {_WHAT[field]}, but {text} "
            f"are needed for {share}; {remedy(config, field, needed, IN_FILE)}")


def count(length: Callable[[], int]) -> float:
    """A number of instructions; more than any program memory has, if no chip has room at all."""
    try:
        return length()
    except CapacityError:
        return math.inf


def alone_length(problem: Problem, layer: int, board: Board,
                 statistics: Statistics | None = None) -> int:
    """Instructions of a layer (from 0) by itself; several take about as many as each of them."""
    statistics = statistics or problem.statistics
    _, network, number = problem.layers[layer]
    levels = len(network.layers) + 1
    rows = statistics.vertices[:1] * levels if statistics.square else statistics.vertices[:levels]
    return program_length(network, board.config, rows, PIECES, range(number, number + 1),
                          square=statistics.square)


def run_length(problem: Problem, layers: Sequence[int], board: Board,
               names: tuple[str, ...] = PIECES, statistics: Statistics | None = None,
               halo: int = 0) -> tuple[int, bool]:
    """Instructions of layers, and whether they were counted as a whole; others as in ``shortage``.
    """
    statistics = statistics or problem.statistics
    config = board.config
    about = sum(alone_length(problem, layer, board, statistics) for layer in layers)
    run = range(layers[0] + 1, layers[-1] + 2)
    one_run = problem.is_one_network and len(run) == len(layers)
    if not one_run or (not halo and not SURELY * config.program_rows < about <= LARGEST_PROGRAM):
        return about, False
    network = problem.layers[0].network
    return program_length(
        network, config, statistics.vertices, names, run, square=statistics.square,
        sources=(statistics.vertices[-1] + halo,) * 2 if halo else ()), True
