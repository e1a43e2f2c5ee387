# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
import scipy.sparse

from hypercast.reference.bounds import accumulator_bounds, check_accumulators, gradient_bounds
from hypercast.reference.models import model_network
from hypercast.reference.network import (
    AGGREGATE_FIRST,
    COMBINE_FIRST,
    LINEAR,
    Layer,
    Network,
)

EDGES = scipy.sparse.csr_array(np.array([[100, -50], [0, 127]]))
FEATURES = np.array([[1, -2, 3], [4, 5, 6]])


def test_known_mantissas_count_as_they_are():
    bounds = accumulator_bounds(Network.of_widths((3, 4, 2)), [EDGES, EDGES], FEATURES, 8)
    bias = 2**38  # an 8-bit bias shifted as far as a 40-bit accumulator allows
    assert bounds["sum of a vertex's edge weights"] == 150 * 128 + bias
    assert bounds["sum of the edge weights from a vertex"] == 177 * 128
    assert bounds["sum over the input features of layer 1"] == 15 * 128
    assert bounds["sum over the input features of layer 2"] == 4 * 128 * 128
    assert bounds["sum over the output features of layer 2"] == 2 * 128 * 128


def test_aggregated_features_are_not_known():
    bounds = accumulator_bounds(
        Network.of_widths((3, 2), orders=AGGREGATE_FIRST), [EDGES], FEATURES, 8)
    assert bounds["sum over the input features of layer 1"] == 3 * 128 * 128 + 2**38


def test_rows_that_are_added_count():
    def more(network):
        alone, added = (accumulator_bounds(network, [EDGES] * 3, FEATURES, 8, weight)
                        for weight in (0, 64))
        return {name: added[name] - bound for name, bound in alone.items() if added[name] != bound}

    assert not more(Network.of_widths((3, 4, 2)))
    assert more(model_network("sage", 3, (4,), 2)) == {
        "sum of a vertex's edge weights": 64 * 128,
        "sum of the edge weights from a vertex": 64 * 128}
    assert more(model_network("sage", 3, (4,), 2, jumping=True)) == {
        "sum of a vertex's edge weights": 64 * 128}
    assert more(model_network("sage", 3, (4, 4), 2, jumping=True)) == {
        "sum of a vertex's edge weights": 64 * 128,
        "sum of the edge weights from a vertex": 2 * 64 * 128}


def test_linear_layers():
    """Known features count as they are, and the bias is added to the product."""
    layers = (Layer(features_in=3, features_out=4, order=LINEAR),
              Layer(features_in=4, features_out=2, order=LINEAR))
    bounds = accumulator_bounds(Network(layers=layers), [EDGES, EDGES], FEATURES, 8)
    assert bounds["sum over the input features of layer 1"] == 15 * 128 + 2**38
    assert bounds["sum over the input features of layer 2"] == 4 * 128 * 128 + 2**38


@pytest.mark.parametrize("features", [FEATURES, scipy.sparse.csr_array(FEATURES)])
def test_gradients_over_some_vertices(features):
    """Bounds of parts add up to what they bound together; of no vertex, there is no sum."""
    network = Network.of_widths((3, 4, 2))
    assert gradient_bounds(network, features[1:], 8) == {
        "W1": 6 * 128, "b1": 128, "W2": 128 * 128, "b2": 128}
    assert gradient_bounds(network, features, 8) == {
        "W1": 9 * 128, "b1": 2 * 128, "W2": 2 * 128 * 128, "b2": 2 * 128}
    assert not any(gradient_bounds(network, features[:0], 8).values())


def test_usual_sizes_fit():
    check_accumulators(Network.of_widths((3, 512, 2)), [EDGES, EDGES], FEATURES, 8)
    check_accumulators(Network.of_widths((3, 65536, 2)), [EDGES, EDGES], FEATURES, 16)


@pytest.mark.parametrize(("width", "hidden"), [(16, 2**17), (8, 2**25)])
def test_too_many_features_are_refused(width, hidden):
    with pytest.raises(ValueError, match="sum over the input features of layer 2 could reach"):
        check_accumulators(Network.of_widths((3, hidden, 2)), [EDGES, EDGES], FEATURES, width)


def test_a_layers_gradients_are_summed_over_its_own_rows():
    """A sample's layers have fewer and fewer rows; what is aggregated has those of the output."""
    features = np.ones((100, 3), dtype=np.int64)
    for orders, rows in ((COMBINE_FIRST, 40), (AGGREGATE_FIRST, 7)):
        network = Network.of_widths((3, 4, 2), orders=orders)
        assert gradient_bounds(network, features, 8, (100, 40, 7))["W2"] == rows * 128 * 128
    assert gradient_bounds(network, features, 8, (100, 40, 7)) == {
        "W1": 40 * 128 * 128, "b1": 40 * 128, "W2": 7 * 128 * 128, "b2": 7 * 128}


def test_sums_over_the_vertices_are_not_refused():
    """They would have to be of the largest numbers, all of one sign; steps find out."""
    vertices = 1 << 18
    one = scipy.sparse.eye_array(vertices, dtype=np.int64, format="csr")
    network = Network.of_widths((3, 4, 2), orders=AGGREGATE_FIRST)
    features = np.ones((vertices, 3), dtype=np.int64)
    assert gradient_bounds(network, features, 16)["W2"] >= 1 << 47
    check_accumulators(network, [one, one], features, 16)
