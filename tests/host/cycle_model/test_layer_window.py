# SPDX-License-Identifier: BSD-2-Clause
"""A few layers of a workload are what they are in the whole."""

import itertools

import numpy as np
import pytest

from hypercast.benches.steps import synthetic_graph
from hypercast.host.cycle_model.layer_window import layer_window
from hypercast.host.cycle_model.prediction import predict, predict_layer
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.training.prepare import prepare
from hypercast.reference.models import model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.config import PRESETS

CONFIG = PRESETS["test"].replace(weight_rows=4096, tensors=256)


def workload(jumping=False, residual=False, dropout=0.5):
    network = model_network("gcn", 9, (8,) * 6, 3, dropout=dropout, jumping=jumping,
                            residual=residual)
    graph = synthetic_graph(200, 900, 9, 3)
    return Workload.of_model(
        prepare(graph, network, Recipe(epochs=1, learning_rates=(1e-4,))), CONFIG)


def test_all_layers_are_the_workload_itself():
    whole = workload()
    assert layer_window(whole, range(1, 8)) is whole


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("jumping", [False, True])
def test_a_layer_costs_about_what_it_costs_in_the_whole(jumping, residual):
    """Other layers take room near the engines. At the ends, what is next to them is missing."""
    whole = workload(jumping, residual)
    window = layer_window(whole, range(3, 7))
    for number in (2, 3):
        assert predict_layer(window, number) == pytest.approx(
            predict_layer(whole, number + 2), rel=0.15)


def test_a_window_follows_a_branch():
    """What one branch adds to the gradient of another one's is no part of it."""
    network = model_network("mixhop", 9, (8, 5, 6, 4, 3), 3, dropout=0.5)
    assert network.path(5) == (1, 4, 5, 9)
    whole = Workload.of_model(prepare(synthetic_graph(200, 900, 9, 3), network, Recipe(
        epochs=1, learning_rates=(1e-4,))), CONFIG)
    window = layer_window(whole, network.path(5))
    assert [layer.features_out for layer in window.network.layers] == [8, 4, 4, 3]
    known, found = whole.digits(network), window.digits(window.network)
    assert [found[name] for name in ("W1", "W2", "W3", "W4.3")] == [
        known[name] for name in ("W1", "W4", "W5", "W9.5")]
    (first, adding), second = (predict_layer(whole, number) for number in (4, 5))
    assert predict_layer(window, 2)[0] == pytest.approx(first, rel=0.15)
    assert predict_layer(window, 2)[1] < adding
    assert predict_layer(window, 3) == pytest.approx(second, rel=0.15)


@pytest.mark.parametrize("first", [1, 2, 4])
def test_digits_and_rows_are_those_of_its_layers(first):
    whole = workload(jumping=True)
    window = layer_window(whole, range(first, first + 3))
    known = whole.digits(whole.network)
    for name, digits in window.digits(window.network).items():
        assert digits == known[f"{name.kind}{name.layer + first - 1}"]
    assert (window.words is None) == (first > 1 or whole.words is None)
    assert set(window.vertices) == {200}


def test_digits_are_those_of_the_orders_that_are_tried():
    """In all layers of the window, and in those outside as they are in the whole."""
    network = model_network("gcn", 9, (8,) * 4, 3)

    def digits(ordered):
        return {Tensor(Kind.WEIGHTS, number): layer.order
                for number, layer in enumerate(ordered.layers, 1)}

    whole = Workload.of_statistics((200,) * 6, (900,) * 5, network, CONFIG, digits=digits)
    window = layer_window(whole, range(2, 5))
    for tried in itertools.product((COMBINE_FIRST, AGGREGATE_FIRST), repeat=3):
        found = window.digits(window.network.with_orders(tried))
        assert found == {
            Tensor(Kind.WEIGHTS, number): order for number, order in enumerate(tried, 1)}


@pytest.mark.parametrize("jumping", [False, True])
@pytest.mark.parametrize("layers", [(1, 2, 3), (2, 3), (3, 4, 5), (4,)])
def test_loads_are_those_of_its_layers(layers, jumping):
    """A linear layer that takes what they give adds rows of the last one's vertices."""
    network = model_network("gcn", 9, (8,) * 4, 3, jumping=jumping, residual=True)
    count = len(network.layers)
    rows = [390 - 60 * number for number in range(count + 1)]
    whole = Workload.of_statistics(rows, [3 * row for row in rows[:-1]], network, CONFIG)
    window = layer_window(whole, [number for number in layers if number <= count])
    for place, number in enumerate(window.network.layers[:len(layers)], 1):
        number = layers[place - 1]
        for backward in False, True:
            assert window.loads(place, backward) == whole.loads(number, backward)
            assert window.root_loads(place, backward) == whole.root_loads(number, backward)
    for added in range(len(layers) + 1, len(window.network.layers) + 1):
        for backward in False, True:
            assert window.root_loads(added, backward) == whole.root_loads(layers[-1], False)
    assert window.vertices == (*rows[layers[0] - 1:layers[-1] + 1],
                               *[rows[layers[-1]]] * (len(window.network.layers) - len(layers)))


@pytest.mark.parametrize("layers", [(1, 2), (1,), (2, 3), (3,)])
def test_only_the_first_layer_has_the_input_of_the_whole(layers):
    words = np.ones((CONFIG.cores, 1, 3), dtype=np.int64)
    whole = Workload.of_statistics((200,) * 4, (900,) * 3, model_network("gcn", 9, (8, 8), 3),
                                   CONFIG, words=words, pipelined=True, resident=True)
    window = layer_window(whole, layers)
    if layers[0] == 1:
        assert window.words is words
        assert (window.sampled, window.pipelined, window.resident) == (False, True, True)
    else:
        assert window.words is None
        assert (window.sampled, window.pipelined, window.resident) == (True, False, False)


@pytest.mark.parametrize("seed", range(8))
def test_windows_of_samples_can_be_predicted(seed):
    """With fewer vertices in each layer, wherever they begin and end."""
    generator = np.random.default_rng(seed)
    network = model_network(["gcn", "sage", "gin"][seed % 3], 7, (8, 5, 6, 4), 3, dropout=0.5)
    count = len(network.layers)
    rows = np.sort(generator.integers(20, 400, count + 1))[::-1].tolist()
    whole = Workload.of_statistics(rows, [3 * row for row in rows[:-1]], network, CONFIG,
                                   pipelined=True, resident=True)
    first = int(generator.integers(1, count))
    layers = range(first, int(generator.integers(first, count)) + 1)
    window = layer_window(whole, layers)
    assert len(window.network.layers) == len(layers)
    assert window.vertices == tuple(rows[first - 1:layers[-1] + 1])
    assert predict(window, trials=1).cycles > 0
