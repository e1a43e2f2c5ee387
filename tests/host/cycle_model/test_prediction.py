# SPDX-License-Identifier: BSD-2-Clause
"""The cycle model counts the work exactly, and its parts add up."""

import re
from dataclasses import replace

import numpy as np
import pytest

from hypercast.benches.steps import synthetic_graph
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.vertices import RowTable, Vertices
from hypercast.host.cycle_model import prediction
from hypercast.host.cycle_model.aggregations import DEGREE_LAWS
from hypercast.host.cycle_model.prediction import predict, predict_layer
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.training.prepare import prepare
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import PRESETS
from tests.system.chips import GraphTraining
from tests.system.test_many_strips import CONFIG as MANY_STRIPS
from tests.system.test_many_strips import graph

CONFIG = PRESETS["test"]


def workload(orders=COMBINE_FIRST, config=CONFIG):
    network = Network.of_widths([9, 6, 3], orders=orders)
    model = prepare(synthetic_graph(70, 200, 9, 3), network, Recipe(epochs=1))
    return Workload.of_graph(model.sample.edges[0], network, config), model


@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
def test_phases_add_up(orders):
    prediction = predict(workload(orders)[0])
    assert sum(phase.cycles for phase in prediction.phases) == prediction.cycles
    assert prediction.cycles > prediction.bound > 0


@pytest.mark.grid
@pytest.mark.parametrize("name", ["gcn", "sage", "gin"])
@pytest.mark.parametrize("vertices, features", [(70, 9), (300, 20)])
def test_what_is_short_is_what_the_compiler_refuses(name, vertices, features):
    """Program rows and words of memory, to the last one, where a set of edges serves both passes.
    """
    config = CONFIG.replace(program_rows=4096, channel_words=1 << 16, weight_rows=1024)
    model = prepare(synthetic_graph(vertices, 3 * vertices, features, 3),
                    model_network(name, features, (6,), 3),
                    Recipe(epochs=1, optimiser="sgd", normalisation=MODELS[name].normalisation))
    job = compile_job(model, config)
    symmetric = name != "sage"  # which has means
    used = max(region.address + region.words for region in job.regions.values())
    assert predict(Workload.of_model(model, config)).shortages == []
    small, refusal = config, None
    while not refusal:  # lists of one size are only had where there is room
        small = small.replace(channel_words=small.channel_words // 2)
        try:
            compile_job(model, small)
        except CapacityError as error:
            refusal = error
    [found] = predict(Workload.of_model(model, small)).shortages
    words, needed, channel = re.match(
        r"channel_words is (\d+), but (\d+) are needed: memory channel (\d) ", str(found)).groups()
    assert int(words) == small.channel_words < int(needed) <= used
    if symmetric:
        assert f"{needed} are needed: memory channel {channel} " in str(refusal)
    short = config.replace(program_rows=32)
    [found] = predict(Workload.of_model(model, short)).shortages
    with pytest.raises(CapacityError) as refusal:
        compile_job(model, short)
    assert str(refusal.value) == str(found)


@pytest.mark.grid
@pytest.mark.parametrize("vertices", [300, 600])
@pytest.mark.parametrize("rows", [256, 512, 1024])
def test_a_longer_program_that_is_faster_is_named(vertices, rows):
    """With as many rows as it names, a step takes at most the cycles that it names."""
    config = MANY_STRIPS.replace(program_rows=rows)
    model = GraphTraining(graph=graph(vertices, 2), config=config, hidden=(33,)).model()
    short = predict(Workload.of_model(model, config))
    [found] = short.slowdowns
    assert found.field == "program_rows" and found.needed > rows
    faster, slower = map(int, re.search(
        r"a step takes (\d+) cycles instead of (\d+)", str(found)).groups())
    assert faster < slower == short.cycles
    enough = predict(Workload.of_model(model, config.replace(
        program_rows=1 << (found.needed - 1).bit_length())))
    assert enough.cycles <= faster and not enough.slowdowns


def test_work_is_that_of_the_matrices():
    """Panels of 4 lanes: 9, 6 and 3 features are 3, 2 and 1 panels."""
    asked, model = workload()
    work = predict(asked).work
    vertices, edges = 70, model.sample.edges[0].nnz
    matmul = 2 * 3 + 1 * 2 + 2 * 1
    gradient = 2 * 3 + 1 * 2 + 2 + 1
    assert work["array_words"] == vertices * (matmul + gradient)
    assert work["edges"] == edges * (2 + 1 + 1 + 2)


def test_work_of_rows_that_are_added():
    """Each of the sums takes a row more."""
    graph = synthetic_graph(70, 200, 9, 3)
    model = prepare(graph, model_network("sage", 9, (6,), 3),
                    Recipe(epochs=1, normalisation="neighbours"))
    work = predict(Workload.of_model(model, CONFIG)).work
    edges = model.sample.edges[0].nnz
    assert work["edges"] == edges * (2 + 1 + 1 + 2 + 2) + 70 * (2 + 1 + 2)
    statistics = Workload.of_statistics([70] * 3, [edges] * 2, model.network, CONFIG)
    assert predict(statistics).work["edges"] == pytest.approx(work["edges"], rel=0.02)


def test_linear_layers_aggregate_nothing():
    network = model_network("gin", 9, (6,), 3)
    model = prepare(synthetic_graph(70, 200, 9, 3), network,
                    Recipe(epochs=1, normalisation="sum"))
    work = predict(Workload.of_model(model, CONFIG)).work
    assert work["edges"] == model.sample.edges[0].nnz * (2 + 1 + 1 + 2)


@pytest.mark.parametrize("law", DEGREE_LAWS)
def test_statistics_of_a_graph_give_about_what_the_graph_does(law):
    asked, model = workload()
    expected = predict(asked).work
    found = predict(Workload.of_statistics(
        [70] * 3, [model.sample.edges[0].nnz] * 2, asked.network, CONFIG, law=law)).work
    for counter in ("array_words", "edges", "features_written"):
        assert found[counter] == pytest.approx(expected[counter], rel=0.02), counter
    assert found["sent"] == pytest.approx(expected["sent"], rel=0.25)


@pytest.mark.parametrize("order", [COMBINE_FIRST, AGGREGATE_FIRST])
def test_words_of_zeros_are_not_multiplied(order):
    """Two of eight words of the input features; of what is aggregated, all are."""
    network = Network.of_widths([9, 6, 3], orders=order)
    dense = Workload.of_statistics([70] * 3, [300] * 2, network, CONFIG)
    sparse = replace(dense, words=np.full((CONFIG.cores, 1, 3), 2))
    work, fewer = predict(dense, trials=1).work, predict(sparse, trials=1).work
    if order == AGGREGATE_FIRST:
        assert fewer == work
    else:  # each of 3 panels is multiplied by 2 of weights, and by 2 of gradients
        assert work["array_words"] - fewer["array_words"] == 4 * (3 * 70 - 3 * CONFIG.cores * 2)


@pytest.mark.parametrize("number", [1, 2])
def test_a_layer_by_itself_goes_forward_and_back(number):
    """Which takes about what its phases do, among those of other layers."""
    asked, _ = workload()
    forward, backward = predict_layer(asked, number)
    whole = sum(phase.cycles for phase in predict(asked, trials=1).phases
                if phase.name.layer == number)
    assert 0 < forward < backward and forward + backward == pytest.approx(whole, rel=0.4)


def test_the_limit_is_what_is_busiest():
    for one in (prediction := predict(workload()[0], trials=1), *prediction.phases):
        assert one.loads[one.limit] == max(one.loads.values())
    assert prediction.bound == prediction.loads[prediction.limit]
    for name, busy in prediction.loads.items():
        assert busy == pytest.approx(sum(phase.loads[name] for phase in prediction.phases))
    assert prediction.loads["aggregators"] == pytest.approx(
        prediction.work["edges"] / CONFIG.cores / CONFIG.eject)
    assert prediction.loads["memory channel 1"] == pytest.approx(
        (prediction.work["gradients_read"] + prediction.work["gradients_written"]) / CONFIG.cores)


def test_pipelined_batches_do_the_same_work_in_fewer_cycles():
    batch = Workload.of_statistics([2_000, 400, 90], [4_000, 900], Network.of_widths(
        [24, 16, 4], orders=AGGREGATE_FIRST), CONFIG, sampled=True)
    alone, pipelined = predict(batch), predict(replace(batch, pipelined=True))
    assert pipelined.work == alone.work
    assert alone.bound <= pipelined.cycles < alone.cycles


def test_only_what_aggregates_first_can_be_done_ahead():
    batch = replace(workload()[0], sampled=True)
    assert predict(replace(batch, pipelined=True)) == predict(batch)


def test_features_of_a_batch_are_read_in_its_step():
    """A whole graph's features stay in the operand buffer."""
    graph, _ = workload()
    words = predict(graph).work
    again = predict(replace(graph, sampled=True)).work
    assert again["features_read"] == words["features_read"] + 70 * 3


def test_large_graphs_need_no_graph():
    """A million vertices, from statistics: rows in tens of strips."""
    network = Network.of_widths([100, 32, 10])
    prediction = predict(Workload.of_statistics(
        [1_000_000] * 3, [14_000_000] * 2, network, PRESETS["vcu128"]))
    assert prediction.cycles > prediction.bound > 0


@pytest.mark.parametrize("pipelined", [False, True])
@pytest.mark.parametrize("resident", [False, True])
def test_edges_of_the_batch_that_is_worked_ahead_for_are_its_own(pipelined, resident):
    """Layers of the same loads have the same edges otherwise; the first one's lists name rows."""
    batch = Workload.of_statistics([70] * 4, [300] * 3, Network.of_widths(
        [9, 6, 6, 3], orders=AGGREGATE_FIRST), CONFIG, sampled=True, pipelined=pipelined,
        resident=resident)
    vertices = Vertices.of_layers(batch.vertices, CONFIG, RowTable(CONFIG))
    found = prediction._messages(batch, vertices, RowTable(CONFIG))
    assert found.keys() == {(1, False), (2, False), (2, True), (3, False), (3, True)}
    sets = {key: [one.edge_set for one in messages] for key, messages in found.items()}
    assert (sets[1, False] == sets[2, False]) != pipelined
    assert sets[2, False] == sets[3, False] == sets[3, True]
    assert not pipelined or {*sets[1, False]}.isdisjoint(sets[2, False])
    for key, messages in found.items():
        assert {one.load.indexed for one in messages} == {resident and key == (1, False)}
