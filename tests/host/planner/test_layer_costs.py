# SPDX-License-Identifier: BSD-2-Clause
"""Costs of layers: near the whole step's, linear in layers, and with the compiler's own layout."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.description import Cluster, load_cluster
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.edge_sets import edge_set_words
from hypercast.host.compiler.label_list import LabelFormat
from hypercast.host.compiler.layout import Layout
from hypercast.host.compiler.memory_map import LABELS, MemoryMap
from hypercast.host.compiler.pieces import compile_pieces
from hypercast.host.compiler.vertices import RowTable, Vertices
from hypercast.host.cycle_model.aggregations import Expected, Thinned
from hypercast.host.cycle_model.prediction import predict, predict_layer
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner import layer_costs
from hypercast.host.planner.layer_costs import layer_cost
from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.pipelines import BoardStage, stage_footprint
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.training.prepare import prepare
from hypercast.reference.models import model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR, Network
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, Recipe
from hypercast.reference.tensor import FEATURES
from tests.host.compiler.random_networks import ROOMY, models

BOARD = load_cluster("ulx3s-2").boards[0]
SMALL = Statistics.whole(400, 2400, 3)
NETWORKS = [model_network("gcn", 12, [8, 8], 4), model_network("sage", 12, [8, 8], 4),
            model_network("gcn", 12, [8, 8], 4, residual=True),
            model_network("gcn", 12, [8, 8], 4, jumping=True), model_network("gin", 12, [8], 4),
            model_network("mixhop", 12, [8, 8, 8, 8], 4),
            model_network("sign", 12, [8, 8, 8], 4)]


def cycles(network, statistics, board=BOARD):
    return sum(layer_cost(network, number, statistics, board, False).seconds * board.clock
               for number in range(1, len(network.layers) + 1))


@pytest.mark.parametrize("network", NETWORKS)
def test_layers_by_themselves_take_about_as_long_as_the_step(network):
    count = len(network.layers)
    statistics = Statistics.whole(400, 2400, count)
    step = predict(Workload.of_statistics(statistics.vertices, statistics.edges, network,
                                          BOARD.config)).cycles
    assert 0.95 * step <= cycles(network, statistics) <= 1.35 * step


def test_few_strips_stand_for_many():
    config = BOARD.config.replace(channel_words=1 << 20, lanes=4)
    network = Network.of_widths([8, 8, 4])
    whole = Workload(config=config, network=network, aggregations=Expected(
        [20_000] * 3, [100_000] * 2, config))
    few = Thinned(20_000, 100_000, 2, config)
    assert few.factor > 2
    for number in (1, 2):
        expected = predict_layer(whole, number)
        found = predict_layer(Workload(config=config, network=network, aggregations=few), number)
        assert np.array(found) * few.factor == pytest.approx(np.array(expected), rel=0.12)


def test_a_deep_network_is_predicted_as_fast_as_a_shallow_one():
    """Layers that are alike cost the same, and are predicted once."""
    network = Network.of_widths([12, *[8] * 63, 4])
    costs = [layer_cost(network, number, Statistics.whole(400, 2400, 64), BOARD, False)
             for number in range(2, 63)]
    assert len(set(map(repr, costs))) <= 2  # all alike, but for the one before the last


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("adam", [False, True])
def test_room_is_what_the_compiler_lays_out(network, adam):
    count = len(network.layers)
    statistics = Statistics.whole(400, 2400, count)
    config = BOARD.config.replace(weight_rows=65536)
    vertices = [Vertices.of(400, config, RowTable(config))] * (count + 1)
    layout = Layout.of(network, config, vertices, LabelFormat(),
                       adam=adam)
    layout.memory.matrix(FEATURES, 0, network.features)
    words = [0, 0]
    for region in {id(one): one for one in layout.memory.regions.values()}.values():
        words[region.channel] += region.words
    costs = [layer_cost(network, number, statistics, BOARD, adam)
             for number in range(1, count + 1)]
    parts = [part for cost in costs for part in (cost.resident, cost.kept, cost.working)]
    # What goes by another name in a window of the network may lie in the other channel.
    found = [sum(part.features for part in parts), sum(part.gradients for part in parts)]
    assert sum(found) == pytest.approx(sum(words), rel=0.03)
    assert sum(part.weight_rows for part in parts) == layout.weight_rows


def test_a_branch_is_of_its_own_edges():
    """Layers whose matrices differ cost what they do where all have the same one."""
    network = model_network("mixhop", 12, [8, 8, 8, 8], 4)
    count = len(network.layers)
    same = Statistics.whole(400, 2400, count)
    for number, layer in enumerate(network.layers, 1):
        if layer.order == LINEAR:
            continue
        # Those of layers that are not next to it on its path may be anything.
        path = network.path(number)
        near = path[max(0, path.index(number) - 1):path.index(number) + 2]
        edges = tuple(2400 if one in near else 500 for one in range(1, count + 1))
        assert layer_cost(network, number, replace(same, edges=edges), BOARD, False).seconds == \
            pytest.approx(layer_cost(network, number, same, BOARD, False).seconds, rel=0.05)


@pytest.mark.parametrize(("network", "expected"), [
    (model_network("gcn", 12, [8] * 4, 4), {
        1: (1, [0, 1, 2]), 2: (2, [0, 1, 2, 3]), 4: (2, [2, 3, 4, 5]), 5: (2, [3, 4, 5])}),
    # The last one takes the outputs of all; the one before it is as wide as these together.
    (model_network("gcn", 12, [8, 8, 8], 4, jumping=True), {
        1: (1, [0, 1, 2]), 3: (2, [1, 2, 3, 4]), 4: (2, [2, 3, 4])}),
    # Those that the first layer's output is added to have that before them.
    (model_network("gcnii", 12, [8] * 4, 4), {
        1: (1, [0, 1, 2]), 2: (2, [0, 1, 2, 3]), 3: (3, [0, 1, 2, 3, 4]),
        5: (3, [2, 3, 4, 5, 6]), 6: (2, [4, 5, 6])}),
    # Layers 2, 3 and 4 read layer 1; 5 reads 4.
    (model_network("mixhop", 12, [8] * 4, 4), {
        1: (1, [0, 1, 2]), 2: (2, [0, 1, 2, 6]), 4: (2, [0, 1, 4, 5]), 5: (2, [3, 4, 5, 6])}),
    (Network.of_widths([12, 4], orders=AGGREGATE_FIRST), {1: (1, [0, 1])})])
def test_a_layer_is_between_those_before_and_behind_it_on_its_path(network, expected):
    for number, (place, levels) in expected.items():
        layers, found, numbers = layer_costs._window(network, number)
        assert (found, [*numbers]) == (place, levels)
        assert len(layers) == len(levels) - 1
        own, whole = layers[place - 1], network.layers[number - 1]
        assert (own.features_in, own.features_out, own.order, own.dropout) == (
            whole.features_in, whole.features_out, whole.order, whole.dropout)
        Network(layers=layers)  # each takes what the one before it makes


def test_neighbours_combine_first_whatever_they_do():
    network = Network.of_widths([12, 8, 8, 8, 4], orders=AGGREGATE_FIRST)
    for number in (1, 2, 4):
        layers, place, _ = layer_costs._window(network, number)
        assert [layer.order for layer in layers] == [
            AGGREGATE_FIRST if one == place else COMBINE_FIRST
            for one in range(1, len(layers) + 1)]


def test_initial_residuals_stay_where_the_first_layer_does():
    network = model_network("gcnii", 12, [8] * 4, 4)
    for number, roots in ((2, [None, "weights", "weights"]), (3, [None, *["initial"] * 3]),
                          (6, ["weights", None])):
        layers, _, _ = layer_costs._window(network, number)
        assert [layer.root for layer in layers] == roots
        assert all(layer.alpha == 0 for layer in layers if layer.root == "weights")
        assert all(layer.alpha > 0 for layer in layers if layer.root == "initial")


def test_a_slower_clock_takes_longer_in_proportion():
    fast, slow = (layer_cost(NETWORKS[0], 2, SMALL, replace(BOARD, clock=clock), False)
                  for clock in (2e8, 1e8))
    assert (slow.forward, slow.backward) == pytest.approx((2 * fast.forward, 2 * fast.backward))
    assert slow.backward > slow.forward > 0
    assert (slow.resident, slow.kept, slow.working) == (fast.resident, fast.kept, fast.working)


@pytest.mark.parametrize(("columns", "vertices", "words"), [
    (1, 1, (1, 1)), (0, 9, (0, 1)), (BOARD.config.lanes, BOARD.config.cores, (1, 1)),
    (BOARD.config.lanes + 1, BOARD.config.cores + 1, (2, 2)),
    (3 * BOARD.config.lanes, 5 * BOARD.config.cores - 1, (3, 5))])
def test_words_of_a_result(columns, vertices, words):
    """A panel for so many columns, and in each core a word for every so many vertices."""
    assert layer_costs.result_footprint(columns, vertices, BOARD.config) == Footprint(
        features=words[0] * words[1])


def test_words_of_lists():
    """A header, words of edges, and the records of the rows that are sent."""
    config = BOARD.config
    for targets, sources, edges in ((100, 300, 900), (1000, 40, 2000)):
        loads = Expected([sources, targets], [edges], config, "power").loads(1, False)
        rows = -(-sources // config.cores)
        records = -(-rows * config.send_record_width // config.word_width)
        assert layer_costs.list_footprint(targets, sources, edges, "power", config) == Footprint(
            gradients=sum(edge_set_words(load.words, config) + records for load in loads))


@settings(max_examples=12, deadline=None)
@given(models(), st.booleans())
def test_room_is_what_the_compiler_takes(model, several):
    """Words of both channels and rows of the bank, of a whole graph and with sums of gradients."""
    config = ROOMY.replace(accumulator_rows=64)
    network, [edges, *_] = model.network, model.sample.edges
    job = compile_job(model, config, word_sparse=False, pieces=several)
    cluster = Cluster.of_sections({
        "boards": {"one": {"board": "u50", "count": 1 + several, **config.to_dict()}},
        "links": {"network": {"gigabits": 100}}})
    problem = Problem.of_network(cluster, network, Statistics.whole(
        len(model.sample.labels), edges.nnz, len(network.layers)),
        adam=model.recipe.optimiser == "adam")
    board = problem.boards[0]
    need = stage_footprint(problem, BoardStage(tuple(range(len(network.layers))), (board,)), board,
                           1)
    features, gradients = (max(region.address + region.words for region in job.regions.values()
                               if region.channel == channel) for channel in (0, 1))
    assert need.features == features
    assert need.gradients == pytest.approx(gradients, rel=0.06)
    assert need.weight_rows == len(job.weight_bank)


@settings(max_examples=25, deadline=None)
@given(models(), st.data())
def test_room_of_a_stage_is_what_the_compiler_takes(model, data):
    """Whatever layers it has: what it is given, and the gradients and masks that go back."""
    network, [edges, *_] = model.network, model.sample.edges
    count = len(network.layers)
    begin = data.draw(st.integers(1, count))
    run = range(begin, data.draw(st.integers(begin, count)) + 1)
    config = ROOMY.replace(accumulator_rows=64)
    job = compile_pieces(model, config, layers=run).job
    cluster = Cluster.of_sections({
        "boards": {"one": {"board": "u50", "count": 2, **config.to_dict()}},
        "links": {"network": {"gigabits": 100}}})
    problem = Problem.of_network(cluster, network, Statistics.whole(
        len(model.sample.labels), edges.nnz, count), adam=model.recipe.optimiser == "adam")
    board = problem.boards[0]
    need = stage_footprint(problem, BoardStage(tuple(number - 1 for number in run), (board,)),
                           board, 1)
    features, gradients = (max(region.address + region.words for region in job.regions.values()
                               if region.channel == channel) for channel in (0, 1))
    assert need.features == features
    assert need.gradients == pytest.approx(gradients, rel=0.06)


def test_room_for_several_labels_of_a_vertex():
    """A bit for each class, beside the record."""
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(70, size=(200, 2)), rng.normal(size=(70, 5)),
                             rng.random((70, 40)) < 0.2, train=range(40))
    network = Network.of_widths([5, 40])
    job = compile_job(prepare(graph, network, Recipe(
        loss=BINARY_CROSS_ENTROPY, weight_decays=(0.0,))), ROOMY)
    board = replace(BOARD, config=ROOMY)
    one, several = (layer_cost(network, 1, Statistics.whole(70, 400, 1), board, False,
                               sigmoid=sigmoid).kept.gradients for sigmoid in (False, True))
    single = MemoryMap(ROOMY, [-(-70 // ROOMY.cores)] * 2).labels(1).words
    assert several - one == job.regions[LABELS].words - single > 0


def test_words_of_weights():
    """Rows of the bank for weights and biases, and each core's share of what an update needs."""
    config = BOARD.config
    lanes = config.lanes
    network = Network.of_widths([2 * lanes + 1, 3 * lanes, 4])
    height = 1 + 3 * lanes  # a row of biases, and whole panels of weights
    for adam, values in ((False, 2), (True, 3)):
        found = layer_cost(network, 1, Statistics.whole(400, 2400, 2), BOARD, adam).resident
        assert found == Footprint(weight_rows=3 * height, gradients=values * config.state_words * (
            -(-3 // config.cores) + -(-3 * 3 * lanes // config.cores)))
