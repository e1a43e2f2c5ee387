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
from hypercast.host.schemes import layer_seconds as layer_seconds_module
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
    rounded = layer_seconds_module._round
    counts = Statistics.whole(rounded(own), rounded(part.edges[0].nnz), 2)
    sent = {"combine_first": ([3, 1], [3, 1]), "aggregate_first": ([3, 3], [0, 3])}[orders]
    rows = part.rows_here.halo_rows(transposed=False)
    assert rows == part.edges[0].shape[1] - own > 0
    for number, found in enumerate(seconds(part, 0)):
        cost = layer_cost(network, number + 1, counts, BOARD, False)
        more = rows / BOARD.config.cores / BOARD.clock
        assert found == pytest.approx((cost.forward + sent[0][number] * more,
                                       cost.backward + sent[1][number] * more), rel=1e-9)
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


def test_counts_are_rounded_to_six_bits():
    """Fewer than 64 are as they are; others have 33 values from a power of two to the next."""
    assert [layer_seconds_module._round(count) for count in range(1, 65)] == [*range(1, 65)]
    assert layer_seconds_module._round(0) == 1
    for begin in (64, 256, 1 << 20):
        counts = np.unique(np.linspace(begin, 2 * begin, 2000).astype(int)).tolist()
        rounded = [layer_seconds_module._round(count) for count in counts]
        assert sorted({*rounded}) == [begin + begin // 32 * step for step in range(33)]
        assert all(abs(one - count) <= begin / 64
                   for one, count in zip(rounded, counts, strict=True))


def test_layers_of_a_sample_have_the_vertices_of_their_levels():
    """Layers of a whole graph all have the same rows; Adam and clocks change what they take."""
    network = Network.of_widths((40, 33, 8))
    edges = Graph.load("blocks").normalise("symmetric")
    whole = without_values(network, 16, edges)
    sampled = replace(whole, edges=(edges[:60], edges[:12, :60]), labels=whole.labels[:12])
    assert not sampled.square and sampled.rows == (256, 60, 12)
    rounded = layer_seconds_module._round
    counts = Statistics(vertices=tuple(map(rounded, sampled.rows)), sampled=True,
                        edges=tuple(rounded(matrix.nnz) for matrix in sampled.edges))
    for adam in (False, True):
        found = layer_seconds(network, CLUSTER, adam=adam)(sampled, 1)
        for number, one in enumerate(found, 1):
            cost = layer_cost(network, number, counts, BOARD, adam)
            assert one == pytest.approx((cost.forward, cost.backward), rel=1e-9)
