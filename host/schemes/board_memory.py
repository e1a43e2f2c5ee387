# SPDX-License-Identifier: BSD-2-Clause
"""Whether the boards of a cluster have room and chips for their shares of a training."""

from collections.abc import Iterator, Sequence

import numpy as np

from hypercast.host.cluster.assignment import LAYERS, Assignment
from hypercast.host.cluster.balanced_runs import runs_of_layers
from hypercast.host.cluster.board import Board
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.division import Division
from hypercast.host.cluster.weight_staleness import weight_staleness
from hypercast.host.compiler.piece_program import PIECES
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.planner.chip_limits import SUMMED, shortage
from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.pipelines import BoardStage, stage_footprint
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics, summed_edges
from hypercast.host.processes.timed_group import boards_of
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY

__all__ = ["check_board_memory", "check_boards"]


def check_boards(model: InitialModel, assignment: Assignment, cluster: Cluster | None, boards: int,
                 division: Division | None = None) -> None:
    """Refuse a training if boards do not hold their shares of it.

    Parameters
    ----------
    model : InitialModel
        The whole model.
    assignment : Assignment
        How boards share it; its scheme is given.
    cluster : Cluster, optional
        The boards, if their memory is known.
    boards : int
        How many of them train.
    division : Division, optional
        As for ``check_board_memory``.

    Raises
    ------
    DescriptionError
        As ``check_board_memory`` does.
    """
    runs: Sequence[range] = ()
    if assignment.scheme == LAYERS:
        runs = runs_of_layers(model.network, model.sample, boards, assignment.runs)
    if cluster:
        check_board_memory(model, cluster, boards=boards, runs=runs,
                           in_flight=assignment.in_flight, division=division,
                           stale=assignment.stale, staleness=weight_staleness(assignment, model),
                           chunks=assignment.chunks or 1)


def check_board_memory(model: InitialModel, cluster: Cluster, *, boards: int,
                       runs: Sequence[range] = (), in_flight: Sequence[int] = (),
                       division: Division | None = None, stale: bool = False,
                       staleness: Sequence[int] = (), chunks: int = 1) -> None:
    """Refuse boards that do not hold what they would have to.

    Parameters
    ----------
    model : InitialModel
        The whole model.
    cluster : Cluster
        The boards.
    boards : int
        How many of them train.
    runs : sequence of range
        The layers of each, from 1, in a pipeline.
    in_flight : sequence of int
        Micro-batches that each has begun and not done there, at most.
    division : Division, optional
        Which board has which vertex, of a graph in parallel. With neither, each has the whole
        model.
    stale : bool
        Whether boards keep rows of others of the step before.
    staleness : sequence of int
        By how many steps the weights of each layer are older than the newest, if some are: boards
        keep all versions in between.
    chunks : int
        Into how many chunks of vertices they take a whole graph.

    Raises
    ------
    DescriptionError
        Names the board, what it has or its chip lacks, how much more is needed, and what would
        help.
    """
    needs = _parts(model, cluster, division, stale) if division else _stages(
        model, cluster, runs, in_flight or range(boards, 0, -1), staleness, chunks)
    for board, (need, lacking) in zip(boards_of(cluster, boards), needs, strict=True):
        if board.config.element_width != model.recipe.element_width:
            raise DescriptionError(
                f"{board.name} has elements of {board.config.element_width} bits, the training of "
                f"{model.recipe.element_width}; give --elements {board.config.element_width}")
        if excess := need.excess(board, "its share"):
            raise DescriptionError(excess)
        if lacking:
            raise DescriptionError(lacking)


def _problem(model: InitialModel, cluster: Cluster, statistics: Statistics) -> Problem:
    return Problem.of_network(
        cluster, model.network, statistics, adam=model.recipe.optimiser == "adam",
        sigmoid=model.recipe.loss == BINARY_CROSS_ENTROPY)


def _stages(model: InitialModel, cluster: Cluster, runs: Sequence[range],
            in_flight: Sequence[int],
            staleness: Sequence[int], chunks: int) -> Iterator[tuple[Footprint, str]]:
    """Room that each board needs, and what its chip lacks."""
    sample, layers = model.sample, len(model.network.layers)
    # Edges are there for each micro-batch in flight; of a whole graph, that is once.
    first = sample.edges[0]
    problem = _problem(model, cluster, Statistics(
        vertices=sample.rows, sampled=True, symmetric=first.shape[0] == first.shape[1]
        and (first != first.T).nnz == 0, edges=tuple(summed_edges(
            model.network, [matrix.nnz for matrix in sample.edges]))))
    for rank, (board, most) in enumerate(zip(cluster.boards, in_flight, strict=False)):
        run = runs[rank] if runs else range(1, layers + 1)
        stage = BoardStage(tuple(number - 1 for number in run), (board,))
        versions = 1 + max((staleness[layer] for layer in stage.layers if staleness), default=0)
        flight = min(most, model.recipe.micro_batches) if runs else 1
        yield (stage_footprint(problem, stage, board, flight, versions),
               shortage(problem, stage.layers, board, f"layers {run[0]} to {run[-1]}",
                        PIECES if runs else SUMMED,
                        problem.statistics.part(chunks) if chunks > 1 else None))


def _parts(model: InitialModel, cluster: Cluster, division: Division,
           stale: bool) -> Iterator[tuple[Footprint, str]]:
    layers = tuple(range(len(model.network.layers)))
    vertices = np.bincount(division.boards, minlength=len(division.edges)).tolist()
    for board, own, edges, halo in zip(cluster.boards, vertices, division.edges.tolist(),
                                       division.halos.tolist(), strict=False):
        problem = _problem(model, cluster, Statistics.whole(own, edges, len(layers)))
        need = stage_footprint(problem, BoardStage(layers, (board,)), board, 1)
        columns = sum(problem.exchanges) if stale else max(problem.exchanges, default=0)
        yield (need + _rows(columns, halo, board),
               shortage(problem, layers, board, "its part of the graph", halo=halo))


def _rows(columns: int, rows: int, board: Board) -> Footprint:
    """Room for rows of others."""
    return Footprint(features=-(-columns // board.config.lanes) * -(-rows // board.config.cores))
