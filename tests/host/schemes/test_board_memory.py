# SPDX-License-Identifier: BSD-2-Clause
"""Boards that are too small for their share, by how much, and what would help."""

from dataclasses import replace

import numpy as np
import pytest

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.balanced_runs import runs_of_layers
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.division import Division
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.model import Model
from hypercast.host.graphs.datasets import blocks
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner.pipelines import BoardStage, stage_footprint
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.schemes import board_memory
from hypercast.host.schemes.board_memory import check_board_memory, check_boards
from hypercast.host.training.prepare import prepare
from hypercast.reference.recipe import Recipe

GRAPH = Graph(**blocks(vertices=2000))
NETWORK = Model(hidden=(64, 64)).network(GRAPH)
MODEL = prepare(GRAPH, NETWORK, Recipe())


def cluster(words, **changes):
    return Cluster.of_sections({
        "boards": {"small": {"board": "vcu128", "count": 4, "channel_words": words,
                             "tensors": 64, **changes}},
        "links": {"network": {"gigabits": 100.0}}})


def words_needed(**share):
    """The least room of a channel, as a power of two, with which boards are not refused."""
    for bits in range(6, 24):
        try:
            check_board_memory(MODEL, cluster(1 << bits), **{"boards": 4, **share})
        except DescriptionError as error:
            assert "times that are needed for its share; take more boards" in str(error)
        else:
            return 1 << bits
    raise AssertionError("it never fits")


def test_shares_of_a_graph_or_of_layers_need_less():
    whole = words_needed()
    graph = words_needed(division=Division.of(MODEL.sample.edges[0], 4))
    assert graph < whole
    assert words_needed(division=Division.of(MODEL.sample.edges[0], 4), stale=True) >= graph
    runs = runs_of_layers(NETWORK, MODEL.sample, 3)
    assert np.sum([len(run) for run in runs]) == 3
    check_board_memory(MODEL, cluster(whole), boards=3, runs=runs)


@pytest.mark.parametrize("boards", [2, 4])
def test_stale_rows_of_others_are_kept_of_all_layers(boards):
    """Which takes more than those of one layer after the other, the deeper the network."""
    model = prepare(GRAPH, Model(hidden=(64,) * 8).network(GRAPH), Recipe())
    division = Division.of(model.sample.edges[0], boards)

    def rows(stale):
        return [need.features for need, _ in board_memory._parts(
            model, cluster(1 << 20), division, stale)]

    for kept, passing in zip(rows(True), rows(False), strict=True):
        assert kept > 1.3 * passing > 0


def test_versions_of_weights_need_more():
    runs = runs_of_layers(NETWORK, MODEL.sample, 3)
    exact = words_needed(boards=3, runs=runs)
    assert words_needed(boards=3, runs=runs, staleness=(2, 1, 0)) >= exact
    assert words_needed(boards=3, runs=runs, staleness=(0, 0, 9999)) > exact


@pytest.mark.parametrize("most", [1, 2, 3, 9])
@pytest.mark.parametrize("micro_batches", [1, 2, 4])
def test_edges_are_there_for_each_micro_batch_in_flight(most, micro_batches):
    """Never more are in flight than a step has, and one without a pipeline."""
    model = replace(MODEL, recipe=replace(MODEL.recipe, micro_batches=micro_batches))
    boards, edges = cluster(1 << 20), model.sample.edges
    runs = [range(1, 3), range(3, 4)]
    found = Problem.of_network(boards, NETWORK, Statistics(
        vertices=model.sample.rows, edges=tuple(matrix.nnz for matrix in edges), sampled=True))
    for given in (runs, ()):
        needs = board_memory._stages(model, boards, given, (most, most), (), 1)
        for (need, lacking), board, run in zip(needs, boards.boards, given or [range(1, 4)] * 2,
                                               strict=False):
            stage = BoardStage(tuple(number - 1 for number in run), (board,))
            flight = min(most, micro_batches) if given else 1
            assert need == stage_footprint(found, stage, board, flight) and lacking == ""
    assert found.lists((0, 1), boards.boards[0]).gradients > 0


def test_elements_of_another_width():
    with pytest.raises(DescriptionError, match="small-0 has elements of 8 bits, the training of "
                                               "16; give --elements 8"):
        check_board_memory(MODEL, cluster(1 << 20, element_width=8), boards=2)


def test_fewer_boards_than_train():
    with pytest.raises(DescriptionError, match="5 boards train, but the cluster has 4; take no"):
        check_board_memory(MODEL, cluster(1 << 20), boards=5)


def test_chips_that_have_too_few_entries_or_instructions():
    model = prepare(GRAPH, Model(hidden=(16,) * 8).network(GRAPH), Recipe())
    runs = [range(1, 8), range(8, 10)]
    for share, text in (({}, "75 are needed for layers 1 to 9"),
                        ({"division": Division.of(model.sample.edges[0], 2)},
                         "75 are needed for its part of the graph"),
                        ({"runs": [range(1, 9), range(9, 10)]},
                         "67 are needed for layers 1 to 8")):
        with pytest.raises(DescriptionError, match=rf"^small-0 \(vcu128\) has 64 entries of the "
                                                   f"exponent file, but {text}; raise tensors to"):
            check_board_memory(model, cluster(1 << 20), boards=2, **share)
        check_board_memory(model, cluster(1 << 20, tensors=128), boards=2, **share)
    check_board_memory(model, cluster(1 << 20), boards=2, runs=runs)
    with pytest.raises(DescriptionError, match=r"has 64 rows of program memory, but .* are needed"):
        check_board_memory(model, cluster(1 << 20, program_rows=64), boards=2, runs=runs)


def test_strips_in_loops_take_more_instructions_than_one_strip():
    model = prepare(GRAPH, Model(hidden=(16,) * 9).network(GRAPH), Recipe())
    few = cluster(1 << 20, program_rows=256, accumulator_rows=16, tensors=128)
    runs = [range(1, 9), range(9, 11)]
    with pytest.raises(DescriptionError, match="has 256 rows of program memory"):
        check_board_memory(model, few, boards=2, runs=runs)
    check_board_memory(model, few, boards=2, runs=runs, chunks=32)


def test_a_training_is_checked_with_what_its_boards_have_of_it():
    """Chunks, runs of layers and boards; those whose memory is unknown hold anything."""
    model = prepare(GRAPH, Model(hidden=(16,) * 9).network(GRAPH), Recipe())
    few = cluster(1 << 20, program_rows=256, accumulator_rows=16, tensors=128)
    whole = Assignment(scheme="layers", runs=(range(1, 9), range(9, 11)))
    for found, boards in ((whole, few), (replace(whole, chunks=1), few)):
        with pytest.raises(DescriptionError, match="has 256 rows of program memory"):
            check_boards(model, found, boards, 2)
    check_boards(model, whole, None, 2)
    check_boards(model, replace(whole, chunks=32), few, 2)
    check_boards(model, whole, cluster(1 << 20, tensors=128), 2)
