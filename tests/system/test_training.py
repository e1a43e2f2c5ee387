# SPDX-License-Identifier: BSD-2-Clause
"""The whole chip, compiled by CXXRTL, trains in every word as the reference does."""

import numpy as np
import pytest

from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.comparison import compare
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.training.prepare import open_device
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from tests.system.chips import (
    CHIPS,
    NARROW,
    ONE_CORE,
    SLOW_MEMORY,
    WIDE,
    GraphTraining,
    random_graph,
    star,
)

#: Graphs at the edges of what is allowed.
GRAPHS = {
    "one vertex": random_graph(1, 0, classes=1),
    "fewer vertices than cores": random_graph(3, 4),
    "no edges": random_graph(9, 0),
    "loops only": Graph.from_edges([[v, v] for v in range(6)], [[v + 1.0, -v] for v in range(6)],
                                   [0, 1] * 3, train=[0, 1, 2, 3]),
    "isolated vertices": random_graph(21, 40, isolated=8, seed=1),
    "star": star(30),
    "complete": random_graph(12, 600, seed=2),
    "directed": random_graph(25, 70, directed=True, seed=3),
    "one direction only": Graph.from_edges(
        [[0, v] for v in range(1, 10)], [[1.0, v] for v in range(10)], [0, 1] * 5,
        train=range(0, 10, 2), directed=True),
    "features all zero": Graph.from_edges(
        [[0, 1], [1, 2]], [[0.0, 0]] * 4, [0, 1, 0, 1], train=[0, 1]),
    "unknown labels": Graph.from_edges(
        [[0, 1], [1, 2], [2, 3]], [[1.0], [2.0], [0.5], [3.0]], [0, -1, 1, -1], train=[0, 2]),
}


@pytest.mark.grid
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())
@pytest.mark.parametrize("config", [NARROW, WIDE], ids=["narrow", "wide"])
def test_graphs(config, graph):
    recipe = {"weight_decays": (0.0,)}  # which must be small against gradients, here often zero
    GraphTraining(graph=graph, config=config, hidden=(3,), dropout=0.5, recipe=recipe).check()


@pytest.mark.parametrize("config", CHIPS.values(), ids=CHIPS.keys())
def test_long_training(config):
    GraphTraining(graph=Graph.load("karate"), config=config, hidden=(16,), dropout=0.5,
                  epochs=12).check()


@pytest.mark.parametrize("normalisation", ["mean", "given"])
@pytest.mark.parametrize("directed", [False, True])
def test_normalisations(normalisation, directed):
    graph = random_graph(30, 80, directed=directed, seed=4)
    GraphTraining(graph=graph, config=WIDE, hidden=(5,), dropout=0.5,
                  recipe={"normalisation": normalisation, "normalise_features": True}).check()


@pytest.mark.grid
@pytest.mark.parametrize(("hidden", "dropout", "orders"), [
    ((), 0.0, COMBINE_FIRST),
    ((), 0.0, AGGREGATE_FIRST),
    ((), 0.5, COMBINE_FIRST),
    ((7,), 0.3, COMBINE_FIRST),
    ((7,), 0.3, (COMBINE_FIRST, AGGREGATE_FIRST)),
    ((7,), 0.0, AGGREGATE_FIRST),
    ((5, 9), 0.9, (COMBINE_FIRST, AGGREGATE_FIRST, COMBINE_FIRST)),
    ((9, 1), 0.0, (AGGREGATE_FIRST, COMBINE_FIRST, AGGREGATE_FIRST)),
    ((4, 4, 4), 0.1, COMBINE_FIRST),
])
@pytest.mark.parametrize("config", CHIPS.values(), ids=CHIPS.keys())
def test_networks(config, hidden, dropout, orders):
    graph = random_graph(26, 60, directed=True, features=7, classes=5, isolated=2, seed=5)
    GraphTraining(graph=graph, config=config, hidden=hidden, dropout=dropout,
                  orders=orders).check()


def test_chosen_orders():
    """One panel of inputs and three of outputs, and the other way round."""
    training = GraphTraining(graph=random_graph(60, 200, features=4, seed=11), config=WIDE,
                             hidden=(12,), orders=None)
    orders = [layer.order for layer in training.model().network.layers]
    assert orders == [AGGREGATE_FIRST, COMBINE_FIRST]
    training.check()


@pytest.mark.grid
@pytest.mark.parametrize("orders", [COMBINE_FIRST, (COMBINE_FIRST, AGGREGATE_FIRST)],
                         ids=["combine", "aggregate"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("config", [NARROW, WIDE, SLOW_MEMORY],
                         ids=["narrow", "wide", "slow memory"])
def test_several_destination_strips(config, directed, orders):
    graph = random_graph(100, 250, directed=directed, features=9, classes=7, seed=6)
    assert -(-graph.vertices // config.cores) > config.accumulator_rows
    GraphTraining(graph=graph, config=config, hidden=(6,), dropout=0.3, orders=orders).check()


def test_strip_of_one_row():
    vertices = 2 * NARROW.cores * NARROW.accumulator_rows + 1
    GraphTraining(graph=random_graph(vertices, 130, seed=7), config=NARROW, hidden=(4,)).check()


@pytest.mark.parametrize("features", [33, 34, 65])
def test_reductions_in_chunks(features):
    """Gradients of more tile rows than the accumulators hold, in two and three chunks."""
    GraphTraining(graph=random_graph(20, 50, features=features, seed=8), config=NARROW,
                  hidden=(3,), dropout=0.5).check()


def test_evaluations_between_steps():
    """The chip's evaluations leave no trace in its training, and have the reference's metrics."""
    training = GraphTraining(graph=Graph.load("karate"), config=ONE_CORE, hidden=(4,), dropout=0.5)
    reference = ReferenceDevice(training.model())
    oracle = ReferenceDevice(training.model())
    device = open_device("rtl", training.model(), ONE_CORE)
    try:
        for _ in range(3):
            for target in (reference, oracle, device):
                target.train_step()
            words = compare(reference.snapshot(), device.snapshot(), ONE_CORE.lanes)
            assert words.equal == words.words, str(words)
            expected, found = oracle.evaluate(), device.evaluate()
            assert all(map(np.array_equal, expected, found))
    finally:
        device.close()


@pytest.mark.parametrize("whose", ["oracle", "chip"])
def test_what_went_wrong_on_one_side_is_found(whose):
    """Oracle and chip have the model in common, but neither rules nor state."""
    training = GraphTraining(graph=Graph.load("karate"), config=ONE_CORE, hidden=(4,), dropout=0.5)
    model = training.model()
    reference, device = ReferenceDevice(model), open_device("rtl", model, ONE_CORE)
    momenta = (reference.oracle.rules if whose == "oracle" else device._rules).momentum_exponents
    try:
        for wrong in (False, True):
            if wrong:
                momenta.load({name: value + 1 for name, value in momenta.entries().items()})
            reference.train_step()
            device.train_step()
            words = compare(reference.snapshot(), device.snapshot(), ONE_CORE.lanes)
            assert (words.equal < words.words) == wrong, str(words)
    finally:
        device.close()


def test_learning_rate_schedule():
    """The rates in the program change while training goes on."""
    GraphTraining(graph=random_graph(16, 40, seed=9), config=ONE_CORE, hidden=(4,), epochs=6,
                  recipe={"schedule": ((2, 0.5), (4, 0.01)), "momentum": 0.0,
                          "learning_rates": (0.2, 0.1), "weight_decays": (0.01, 0.02)}).check()


def test_metrics_of_many_classes():
    GraphTraining(graph=random_graph(40, 60, classes=37, seed=10), config=NARROW,
                  hidden=(2,)).check()
