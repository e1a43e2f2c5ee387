# SPDX-License-Identifier: BSD-2-Clause
"""Default orders follow from network and graph, and from no chip."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cycle_model import default_orders as module
from hypercast.host.cycle_model.default_orders import (
    YARDSTICK,
    default_orders,
    expected_workload,
    panel_words,
)
from hypercast.host.cycle_model.orders import choose_orders
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.reference.models import model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR, Network
from hypercast.rtl.config import PRESETS


def orders(network):
    return [layer.order for layer in network.layers]


@pytest.mark.parametrize(("widths", "sampled"), [
    ((48, 32, 100), True), ((4, 64, 4), False), ((600, 16, 7), True)])
def test_they_are_the_fastest_on_the_largest_chip(widths, sampled):
    """By the very step of a batch, or of a graph, on preset ``vcu128``."""
    vertices, edges = [2_750] * 3, [57_260] * 2
    network = Network.of_widths(widths)
    found = default_orders(network, vertices, edges, 16, sampled=sampled, pipelined=sampled,
                           resident=sampled)

    def cycles(chosen):
        return predict(Workload.of_statistics(
            vertices, edges, network.with_orders(chosen), PRESETS["vcu128"], sampled=sampled,
            pipelined=sampled, resident=sampled)).cycles

    fewest = min(map(cycles, itertools.product((COMBINE_FIRST, AGGREGATE_FIRST), repeat=2)))
    # Schedules are not tried as hard; and what is about as fast combines first.
    assert cycles(orders(found)) <= 1.03 * fewest


@pytest.mark.parametrize("widths", [
    (1 << 14, 1 << 14, 1 << 14), (40_000, 256, 3), (8, 8, 3)])
def test_what_no_chip_holds_has_orders_all_the_same(widths):
    """Too many weights for any chip; and any number of vertices."""
    vertices, edges = (2_000, 9_000) if max(widths) > 8 else (200_000_000, 3_000_000_000)
    found = default_orders(Network.of_widths(widths), [vertices] * 3, [edges] * 2, 8)
    assert set(orders(found)) <= {COMBINE_FIRST, AGGREGATE_FIRST}


@pytest.mark.parametrize("sampled", [False, True])
def test_a_network_of_one_layer_has_an_order(sampled):
    """With few features and many classes, it has less to gather before the product."""
    for widths, order in ((200, 3), COMBINE_FIRST), ((8, 200), AGGREGATE_FIRST):
        found = default_orders(Network.of_widths(widths), [2_750] * 2, [57_260], 16,
                               sampled=sampled)
        assert orders(found) == [order]


def test_given_orders_do_not_matter():
    found = set()
    for given_orders in itertools.product((COMBINE_FIRST, AGGREGATE_FIRST), repeat=2):
        network = Network.of_widths((40, 128, 100), orders=given_orders)
        found.add(default_orders(network, [2_750] * 3, [57_260] * 2, 16))
    assert len(found) == 1


@pytest.mark.parametrize("name", ["gcn", "sage", "gin", "gcnii", "mixhop", "sign"])
def test_layers_have_orders_that_they_can_have(name):
    network = model_network(name, 12, (8,) * 4, 4, dropout=0.5)
    count = len(network.layers)
    found = default_orders(network, [400] * (count + 1), [20_000] * count, 16)
    assert found.with_orders(layer.order for layer in network.layers) == network
    assert found.layers[0].order != AGGREGATE_FIRST  # as its input has dropout
    assert [one == LINEAR for one in orders(found)] == [one == LINEAR for one in orders(network)]


def test_words_of_zeros_count():
    """Sparse features are multiplied in less time than what is aggregated of them."""
    arguments = Network.of_widths((48, 32, 10)), [1_500] * 3, [30_000] * 2, 16
    panels = -(-48 // YARDSTICK.lanes)
    few = default_orders(*arguments, words=np.full(panels, 20))
    all_of_them = default_orders(*arguments, words=np.full(panels, 1_500))
    assert orders(few)[0] == COMBINE_FIRST and orders(all_of_them)[0] == AGGREGATE_FIRST
    assert orders(all_of_them) == orders(default_orders(*arguments))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 70),
       st.sampled_from([0.0, 0.02, 0.3, 1.0]))
def test_words_are_those_of_any_representation(seed, vertices, features, density):
    generator = np.random.default_rng(seed)
    dense = generator.normal(size=(vertices, features)) * (
        generator.random((vertices, features)) < density)
    sparse = scipy.sparse.csr_array(dense)
    lanes = YARDSTICK.lanes
    expected = [np.any(dense[:, first:first + lanes], axis=1).sum()
                for first in range(0, features, lanes)]
    assert panel_words(dense).tolist() == expected
    assert panel_words(sparse).tolist() == expected
    # Zeros that are stored are zeros.
    kept = scipy.sparse.csr_array(np.ones_like(dense))
    kept.data = dense[kept.nonzero()]
    assert panel_words(kept).tolist() == expected


def test_many_strips_are_not_predicted_one_by_one(monkeypatch):
    rows = []

    def counted(workload, **options):
        rows.append(workload.vertices)
        return predict(workload, **options)

    monkeypatch.setattr("hypercast.host.cycle_model.orders.predict", counted)
    default_orders(Network.of_widths((64, 32, 8)), [100_000_000] * 3, [400_000_000] * 2, 16)
    assert max(map(max, rows)) <= 6 * YARDSTICK.cores * YARDSTICK.strip_rows


def test_the_fastest_on_a_chip_can_be_others():
    """Where a chip of few lanes has more panels of some matrices than of others."""
    network, sizes = Network.of_widths((40, 32, 7)), ([1_000] * 3, [31_000] * 2)
    chosen = choose_orders(expected_workload(network, *sizes, PRESETS["test"].replace(
        weight_rows=4096, channel_words=1 << 16, program_rows=4096)))
    assert list(chosen.orders) != orders(default_orders(network, *sizes, 16))
    assert module.YARDSTICK.lanes != PRESETS["test"].lanes
