# SPDX-License-Identifier: BSD-2-Clause
"""Orders and strips are those of the fewest predicted cycles."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from hypercast.benches.steps import synthetic_graph
from hypercast.host.cycle_model import orders
from hypercast.host.cycle_model.orders import choose_orders
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import prepare
from hypercast.reference.models import model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR, Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import PRESETS
from hypercast.rtl.limits import group_size

CONFIG = PRESETS["test"]


def batch(dropout=0.0):
    """Ten times as many inputs as outputs: aggregating first leaves fewer rows to the array."""
    return Workload.of_statistics(
        (1_200, 120, 40), (2_400, 300), Network.of_widths((16, 16, 4), dropout=dropout), CONFIG)


def test_no_order_is_faster():
    chosen = choose_orders(batch())
    assert chosen.orders[0] == AGGREGATE_FIRST
    every = itertools.product((COMBINE_FIRST, AGGREGATE_FIRST), repeat=2)
    assert predict(chosen).cycles == min(predict(batch().with_orders(one)).cycles for one in every)


@pytest.mark.parametrize("widths", [(4, 12, 3), (12, 4, 3), (4, 12, 12, 3)])
def test_no_order_of_a_model_is_faster(widths):
    graph, recipe = synthetic_graph(300, 1_500, widths[0], widths[-1]), Recipe(epochs=1)

    def cycles(network, config=None):
        return predict(Workload.of_model(prepare(graph, network, recipe, config), CONFIG)).cycles

    networks = [Network.of_widths(widths, orders=one) for one in itertools.product(
        (COMBINE_FIRST, AGGREGATE_FIRST), repeat=len(widths) - 1)]
    assert cycles(networks[-1], CONFIG) == min(map(cycles, networks))


@pytest.mark.parametrize("spared", [0.0, 0.01, 0.03])
def test_fewer_aggregate_first_for_a_share_of_the_cycles(monkeypatch, spared):
    """For no more than that, whatever each order costs."""
    workload, generator, taken = batch(), np.random.default_rng(0), set()
    for _ in range(40):
        every = list(itertools.product((COMBINE_FIRST, AGGREGATE_FIRST), repeat=2))
        costs = dict(zip(every, generator.integers(1_000, 1_045, 4).tolist(), strict=True))
        monkeypatch.setattr(orders, "predict", lambda one, trials, costs=costs: SimpleNamespace(
            cycles=costs[one.orders]))
        chosen = choose_orders(workload, spared=spared).orders
        allowed = [one for one in every if costs[one] <= (1 + spared) * min(costs.values())]
        fewest = min(one.count(AGGREGATE_FIRST) for one in allowed) if spared else 0
        assert chosen in allowed
        assert not spared or chosen.count(AGGREGATE_FIRST) == fewest
        assert costs[chosen] == min(costs[one] for one in allowed if not spared
                                    or one.count(AGGREGATE_FIRST) == fewest)
        taken.add(costs[chosen] == min(costs.values()))
    assert taken == ({True, False} if spared else {True})


def test_what_does_not_fit_combines_first():
    """The reference trains it all the same."""
    graph = synthetic_graph(50, 100, 500, 3)
    network = Network.of_widths([500, 9, 3], orders=AGGREGATE_FIRST)
    model = prepare(graph, network, Recipe(epochs=1), CONFIG)
    assert {layer.order for layer in model.network.layers} == {COMBINE_FIRST}


@pytest.mark.parametrize(("name", "dropout"), [("gin", 0.0), ("sage", 0.5)])
def test_only_orders_that_layers_can_have_are_tried(name, dropout):
    graph = synthetic_graph(300, 1_500, 4, 3)
    network = model_network(name, 4, (12, 12), 3, dropout=dropout)
    model = prepare(graph, network, Recipe(epochs=1), CONFIG)
    linear = [layer.order == LINEAR for layer in network.layers]
    assert [layer.order == LINEAR for layer in model.network.layers] == linear
    found = [layer.order for layer in model.network.layers if layer.order != LINEAR]
    assert (AGGREGATE_FIRST in found) == (name == "gin")

    def cycles(network):
        return predict(Workload.of_model(prepare(graph, network, Recipe(epochs=1)), CONFIG)).cycles

    assert cycles(model.network) <= cycles(network)


def test_digits_are_those_of_the_order():
    """Binary features have sums of fewer digits than what is aggregated from them."""
    model = prepare(Graph.load("karate"), Network.of_widths([34, 3, 2]), Recipe(epochs=1))
    workload = Workload.of_model(model, CONFIG)
    combining, aggregating = (
        workload.digits(workload.with_orders((order, COMBINE_FIRST)).network)
        for order in (COMBINE_FIRST, AGGREGATE_FIRST))
    assert combining["W1"] < aggregating["W1"]
    assert combining["W2"] == aggregating["W2"]


def test_a_first_layer_with_dropout_combines_first():
    assert choose_orders(batch(dropout=0.5)).orders[0] == COMBINE_FIRST


@pytest.mark.parametrize("jumping", [False, True])
@pytest.mark.parametrize("layers", [12, 40])
def test_deep_networks_are_predicted_by_a_few_layers_at_a_time(monkeypatch, layers, jumping):
    """Layers that are alike are predicted once, however many there are."""
    depths = []

    def counted(workload, **options):
        depths.append(len(workload.network.layers))
        return predict(workload, **options)

    monkeypatch.setattr(orders, "predict", counted)
    network = model_network("gcn", 4, (8,) * layers, 3, residual=True, jumping=jumping)
    choose_orders(Workload.of_statistics(
        (300,) * (len(network.layers) + 1), (1_500,) * len(network.layers), network, CONFIG))
    assert max(depths) <= 5
    assert len(depths) <= 40


def cost(network):
    """Cycles of a step in which layers do not matter to each other."""
    return sum(100 + (layer.features_out if layer.order == COMBINE_FIRST else layer.features_in)
               for layer in network.layers)


@pytest.mark.parametrize("layers", [2, 3, 12, 26, 52])
def test_predictions_are_linear_in_layers_that_all_differ(monkeypatch, layers):
    """At most one of each candidate at each effort; only close ones are predicted with more."""
    efforts = []

    def counted(workload, trials):
        assert len(workload.network.layers) <= 4
        efforts.append(trials)
        return SimpleNamespace(cycles=cost(workload.network))

    monkeypatch.setattr(orders, "predict", counted)
    generator = np.random.default_rng(layers)
    # Panels of four lanes: each width has another number of them.
    network = Network.of_widths((4 * generator.permutation(layers + 1) + 3).tolist())
    chosen = choose_orders(Workload.of_statistics(
        (300,) * (layers + 1), (1_500,) * layers, network, CONFIG)).network
    for layer in chosen.layers:
        first = AGGREGATE_FIRST if layer.features_in < layer.features_out else COMBINE_FIRST
        assert layer.order == first
    assert efforts.count(0) == 4 * (layers - 1)
    assert len(efforts) <= 3 * 4 * (layers - 1)
    assert layers < 25 or len(efforts) < 4.5 * (layers - 1)


@pytest.mark.grid
@pytest.mark.parametrize(("model", "additions"), [
    ("gcn", {}), ("gcn", {"jumping": True}), ("gcn", {"residual": True}), ("sage", {}),
    ("gin", {}), ("gcnii", {}), ("mixhop", {})])
@pytest.mark.parametrize("preset", ["test", "cora"])
def test_features_decide_by_their_panels(preset, model, additions):
    """Networks whose layers have as many panels, and classes as many groups, take as long."""
    config = PRESETS[preset].replace(weight_rows=4096)
    found = []
    for features, classes in ((1, 1), (config.lanes, group_size(config))):
        hidden = [features] * 3
        if not additions and model in ("gcn", "sage"):
            hidden[1] += config.lanes
        network = model_network(model, features + config.lanes, hidden, classes, **additions)
        chosen = choose_orders(Workload.of_statistics(
            (300,) * (len(network.layers) + 1), (1_500,) * len(network.layers), network, config))
        combining = chosen.with_orders(layer.orders[0] for layer in network.layers)
        found.append((chosen.orders, *(predict(one, trials=1).cycles
                                       for one in (chosen, combining))))
    assert found[0] == found[1]


def test_layers_of_as_many_panels_are_alike(monkeypatch):
    """Though all neighbours differ, a pair amidst the network stands for all others."""
    windows = []

    def counted(workload, trials):
        windows.append(workload)
        return SimpleNamespace(cycles=cost(workload.network))

    monkeypatch.setattr(orders, "predict", counted)
    network = Network.of_widths((6, *[5, 6, 7, 8, 7, 5, 8] * 6, 3))
    layers = len(network.layers)
    choose_orders(Workload.of_statistics((300,) * (layers + 1), (1_500,) * layers, network, CONFIG))
    assert len(windows) <= 4 * 9


@pytest.mark.parametrize("seed", [  # each addition, with dropout and without
    0, 5, 2, 7, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 3, 4, 6))])
def test_orders_of_deep_networks_are_no_slower(seed):
    """Whatever else is added; a window says little of the rest, but not nothing."""
    generator = np.random.default_rng(seed)
    additions = [{}, {"residual": True}, {"jumping": True}, {}][seed % 4]
    hidden = (8,) * 6 if "residual" in additions else generator.integers(2, 20, 6).tolist()
    model = "mixhop" if seed % 4 == 3 else ["gcn", "gin"][seed % 2]
    network = model_network(model, 7, hidden, 3, dropout=[0.0, 0.5][seed // 4], **additions)
    workload = Workload.of_model(prepare(synthetic_graph(300, 1_500, 7, 3), network,
                                         Recipe(epochs=1, learning_rates=(1e-4,))),
                                 CONFIG.replace(weight_rows=4096))
    chosen = choose_orders(workload)
    assert predict(chosen, trials=1).cycles <= 1.01 * predict(workload, trials=1).cycles
