# SPDX-License-Identifier: BSD-2-Clause
"""Scaling of boards in virtual time, on small graphs."""

import pytest

from hypercast.benches import board_scaling
from hypercast.benches.board_steps import without_values
from hypercast.benches.community_graph import community_edges
from hypercast.host.cluster.description import load_cluster
from hypercast.reference.network import Network

CLUSTER = load_cluster("vcu128-16")


def test_samples_scale_less_on_more_boards():
    network = Network.of_widths((64, 32, 8))
    samples = [without_values(network, 16, community_edges(600 + count, 6000, communities=4))
               for count in (0, 200)]
    figures = list(board_scaling.samples_scaling(network, samples, CLUSTER))
    strong, weak = figures[::2], figures[1::2]
    for one in (strong, weak):
        assert [figure.bar for figure in one] == [None, None, 0.95, None]
        values = [figure.value for figure in one]
        assert values == sorted(values, reverse=True)
        assert 0 < values[-1] < values[0] < 1
    assert all("32 a step" in figure.name for figure in strong)
    assert all("4 for each board" in figure.name for figure in weak)
    # As many micro-batches in all: the same step.
    assert strong[2].value == pytest.approx(weak[2].value)


def test_small_samples_need_many():
    network = Network.of_widths((64, 32, 8))
    found = []
    for vertices in (800, 4000):
        sample = without_values(network, 16, community_edges(vertices, 20000, communities=4))
        [figure] = board_scaling._needs(network, [sample], CLUSTER)
        assert figure.value % 8 == 0
        found.append(figure.value)
    assert found[1] < found[0]


def test_time_of_a_graph_is_accounted_for():
    networks = [Network.of_widths((32,) * layers + (8,)) for layers in (1, 2)]
    edges = community_edges(4000, 60_000, communities=40)
    said = []
    figures = list(board_scaling.graph_scaling(networks, edges, CLUSTER, said.append))
    assert said
    # Two networks on four numbers of boards.
    assert len(figures) == 2 * 4 * 6
    for first in range(0, len(figures), 6):
        faster, step, *shares, computing = figures[first:first + 6]
        assert sum(share.value for share in shares) == pytest.approx(1)
        assert step.value > 0
        boards = int(faster.name.split(", ")[-1].split()[0])
        assert faster.bar == (5 if boards == 8 else None)
        # The speed is that of the busiest board's computing, as far as it computes.
        assert faster.value <= boards * shares[0].value / computing.value * (1 + 1e-9)
