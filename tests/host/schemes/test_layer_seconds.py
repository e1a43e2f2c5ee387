# SPDX-License-Identifier: BSD-2-Clause
"""Seconds of layers for virtual clocks."""

from dataclasses import replace

import numpy as np
import pytest

from hypercast.benches.board_steps import without_values
from hypercast.host.cluster.description import load_cluster
from hypercast.host.cluster.division import Division
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner.layer_costs import layer_cost
from hypercast.host.planner.statistics import Statistics
from hypercast.host.schemes.graph_parts import parts_of
from hypercast.host.schemes.layer_seconds import layer_seconds
from hypercast.reference.models import model_network
from hypercast.reference.network import Network

CLUSTER = load_cluster("vcu128-4")
BOARD = CLUSTER.boards[0]


@pytest.mark.parametrize("orders", ["combine_first", "aggregate_first"])
def test_a_part_sends_rows_of_others_too(orders):
    network = Network.of_widths((40, 33, 8), orders=orders)
    edges = Graph.load("blocks").normalise("symmetric")
    whole = without_values(network, 16, edges)
    part = list(parts_of(whole, Division.of(edges, 4)))[1]
    alone = replace(part, rows_here=whole.rows_here, edges=tuple(
        matrix[:, :matrix.shape[0]] for matrix in part.edges))
    assert alone.square
    seconds = layer_seconds(network, CLUSTER, adam=False)
    own = len(part.labels)
    counts = Statistics.whole(own, part.edges[0].nnz, 2)
    sent = {"combine_first": ([3, 1], [3, 1]), "aggregate_first": ([3, 3], [0, 3])}[orders]
    rows = part.rows_here.halo_rows(transposed=False)
    assert rows == part.edges[0].shape[1] - own > 0
    for number, found in enumerate(seconds(part, 0)):
        cost = layer_cost(network, number + 1, counts, BOARD, False)
        more = rows / BOARD.config.cores / BOARD.clock
        # Counts are rounded to a fiftieth.
        assert np.allclose(found, (cost.forward + sent[0][number] * more,
                                   cost.backward + sent[1][number] * more), rtol=0.05)
        assert found.forward > seconds(alone, 0)[number].forward


def test_samples_with_linear_layers_are_square():
    """What branches sum takes as long as where linear layers have edges, too."""
    network = model_network("mixhop", 40, (16,) * 4, 8)
    sample = without_values(network, 16, Graph.load("blocks").normalise("symmetric"))
    assert sample.square
    edges = max(matrix.nnz for matrix in sample.edges)
    counts = Statistics.whole(len(sample.labels), edges, len(network.layers))
    for number, found in enumerate(layer_seconds(network, CLUSTER, adam=False)(sample, 0), 1):
        cost = layer_cost(network, number, counts, BOARD, False)
        assert np.allclose(found, (cost.forward, cost.backward), rtol=0.05)
