# SPDX-License-Identifier: BSD-2-Clause
"""What vertices count for when work is divided."""

import itertools

import pytest

from hypercast.host.cluster.vertex_work import vertex_work
from hypercast.reference.network import Network


@pytest.mark.parametrize(("widths", "orders", "edges"), [
    # Products forward and for weights, each row's by each sum's columns, both ways.
    ((160, 16), "combine_first", 2 * 160 * 16 * 2 / (16 * 32)),
    ((160, 16), "aggregate_first", 2 * 160 * 16 * 2 / (16 * 160)),
    ((32, 64, 16), "combine_first", 2 * (2 * 32 * 64 + 3 * 64 * 16) / (16 * (128 + 32))),
])
def test_products_against_sums(widths, orders, edges):
    assert vertex_work(Network.of_widths(widths, orders=orders)) == round(edges)


@pytest.mark.parametrize("widths", [(1600, 1600, 16), (1600, 1200, 800, 16)])
def test_each_layer_counts_as_often_as_its_products_are_made(widths):
    """Forward, for the gradient of weights, and, but for the first one, for that of the inputs."""
    network = Network.of_widths(widths)
    pairs = list(itertools.pairwise(widths))
    products = 2 * widths[0] * widths[1] + sum(3 * one * other for one, other in pairs[1:])
    panels = sum(2 * other for _, other in pairs)
    assert vertex_work(network) == round(2 * products / (16 * panels))


def test_wide_features_make_vertices_count_more():
    found = [vertex_work(Network.of_widths((width, 16, 4))) for width in (16, 160, 1600)]
    assert found == sorted(found)
    assert found[-1] > 50 * found[0]
