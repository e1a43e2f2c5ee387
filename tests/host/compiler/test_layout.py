# SPDX-License-Identifier: BSD-2-Clause
"""What programs and predictions begin with alike."""

import functools
from itertools import product

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.label_list import LabelFormat
from hypercast.host.compiler.layout import SUMS, SUMS_AHEAD, Layout, place_operands, place_weights
from hypercast.host.compiler.memory_map import CapacityError, MemoryMap
from hypercast.host.compiler.operand_map import LeftOperand
from hypercast.host.compiler.vertices import RowTable, Vertices
from hypercast.host.training.prepare import prepare
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import FEATURES, Kind, Tensor
from hypercast.rtl.isa import Bypass, Opcode, OperandSource, decode
from tests.host.models import SMALL, left_channel, named_model, small_graph, small_model
from tests.host.noted_programs import noted, summary

CONFIG = SMALL.replace(channel_words=4096, program_rows=1024, weight_rows=256, tensors=64)


@pytest.mark.parametrize(("name", "additions"), [
    ("gcn", {}), ("sage", {}), ("gin", {"hidden": (4, 4)}), ("gcn", {"jumping": True})])
def test_all_but_edges_and_features_lies_as_in_a_job(name, additions):
    """In the same order."""
    model = named_model(name, small_graph(40), config=CONFIG, **additions)
    table = RowTable(CONFIG)
    vertices = [Vertices.of(count, CONFIG, table) for count in model.sample.rows]
    layout = Layout.of(model.network, CONFIG, vertices, LabelFormat.of(model))
    job = compile_job(model, CONFIG)
    assert layout.weight_rows == max(
        place.base + place.panels * place.height for place in layout.weights.values())

    def shapes(regions, names):
        return [(name, regions[name].channel, regions[name].words, regions[name].stride)
                for name in names]

    placed = [name for name in job.regions if name in layout.memory.regions]
    assert placed == list(layout.memory.regions)
    assert shapes(layout.memory.regions, placed) == shapes(job.regions, placed)
    assert {str(name).split()[0] for name in job.regions if name not in placed} <= {
        "X", "index", "send", "edge"}
    assert layout.weights.keys() == job.weights.keys()
    for tensor, place in layout.weights.items():
        other = job.weights[tensor]
        assert (place.base, place.height, place.portions) == (
            other.base, other.height, other.portions)


def test_edges_lie_between_tensors_and_labels():
    model = named_model("gcn", small_graph(40), config=CONFIG)
    vertices = [Vertices.of(40, CONFIG, RowTable(CONFIG))] * 3
    layout = Layout.of(model.network, CONFIG, vertices, LabelFormat(),
                       edges=lambda memory: memory.words("edges", 1, 5))
    names = [str(name) for name in layout.memory.regions]
    assert names.index("mask1") < names.index("edges") == names.index("labels") - 1


def test_sums_of_the_next_batch():
    """They lie beside a batch's own, in the same shape, if the first layer aggregates first."""
    model = small_model(small_graph(40), orders=AGGREGATE_FIRST, dropout=0.0)
    vertices = [Vertices.of(40, CONFIG, RowTable(CONFIG))] * 3
    alone, ahead = (Layout.of(model.network, CONFIG, vertices, LabelFormat(), ahead=each)
                    for each in (False, True))
    own, following = (ahead.memory[name] for name in (SUMS, SUMS_AHEAD))
    assert (own.channel, own.words, own.stride) == (
        following.channel, following.words, following.stride)
    assert SUMS_AHEAD not in alone.memory.regions
    used = list(alone.memory.used)
    used[own.channel] += own.words
    assert list(ahead.memory.used) == used
    two = model_network("sign", 9, (8, 8), 3).with_orders((LINEAR, AGGREGATE_FIRST, LINEAR))
    for network, orders in ((small_model().network, r"\('combine_first',\)"),
                            (two, r"\('linear', 'aggregate_first'\)")):
        with pytest.raises(ValueError, match=f"can work ahead if .* that do are {orders}"):
            Layout.of(network, CONFIG, vertices, LabelFormat(), ahead=True)


@pytest.mark.parametrize("orders", list(product([COMBINE_FIRST, AGGREGATE_FIRST], repeat=3)))
def test_whatever_fits_is_kept(orders):
    """With room for all, nothing that a step makes is read from memory to be sent or reduced."""
    config = CONFIG.replace(bypass_rows=4096, operand_words=4096, read_buffer=8)
    model = small_model(small_graph(12, classes=2), hidden=(4, 4), dropout=0.0,
                        orders=orders, config=config)
    job = compile_job(model, config)
    program = [one for one in map(decode, job.instructions("train")) if not one.get("prefetch")]
    features = job.regions["X"]
    for one in program:
        if one["opcode"] == Opcode.AGGREGATE:
            given = one["channel"] == features.channel and features.address <= one["address"] < \
                features.address + features.words
            assert one["bypassed"] == (not given), one
        if one["opcode"] == Opcode.GRADIENT:
            assert one["bypassed"], one


def test_last_layers_are_kept_first():
    """What is sent has places from the last layer on; right operands from the first on."""
    config = CONFIG.replace(bypass_rows=16, operand_words=16)
    model = small_model(small_graph(12, classes=2), hidden=(4, 4), config=config)
    layout = Layout.of(model.network, config, [Vertices.of(12, config, RowTable(CONFIG))] * 4,
                       LabelFormat.of(model))
    places = place_operands(config, model.network, layout.memory, layout.vertices,
                            LeftOperand.dense(FEATURES, 3, 6)).bypass
    sent, right = ([places.base(target, Tensor(kind, number), 0) is not None for number in (1, 3)]
                   for target, kind in ((Bypass.SEND, Kind.COMBINED),
                                        (Bypass.RIGHT, Kind.COMBINED_GRADIENT)))
    assert (sent, right) == ([False, True], [True, False])


def test_a_product_that_is_only_sent_leaves_the_channel_of_what_it_is_made_of():
    """If it has several strips: its left operand is read again and again meanwhile."""
    model = small_model(small_graph(40))
    for rows, channels in ((64, (0, 0)), (16, (0, 1))):
        config = CONFIG.replace(accumulator_rows=rows)
        memory = Layout.of(model.network, config, [Vertices.of(40, config, RowTable(CONFIG))] * 3,
                           LabelFormat()).memory
        assert (memory[Tensor(Kind.HIDDEN, 1)].channel,
                memory[Tensor(Kind.COMBINED, 1)].channel) == channels


#: Networks of every kind: model, what is added to it, and orders where they can be chosen.
NETWORKS = [
    *(("gcn", {}, orders) for orders in product([COMBINE_FIRST, AGGREGATE_FIRST], repeat=3)),
    ("sage", {}, None), ("gin", {}, None), ("gcn", {"residual": True}, None),
    ("gcn", {"jumping": True}, None), ("gin", {"jumping": True}, None),
    ("gcn", {"jumping": True}, (AGGREGATE_FIRST, COMBINE_FIRST, LINEAR)),
    ("sage", {"jumping": True}, None)]
#: Room for everything, close to every engine.
ROOMY = CONFIG.replace(bypass_rows=4096, operand_words=4096, read_buffer=8)


@functools.cache
def _roomy(case):
    """The network and the job of one of ``NETWORKS``, by its number."""
    name, additions, orders = NETWORKS[case]
    graph = small_graph(12, classes=2)
    network = model_network(name, graph.features.shape[1], (4, 4), graph.classes, **additions)
    network = network.with_orders(orders or [layer.order for layer in network.layers])
    recipe = Recipe(epochs=2, normalisation=MODELS[name].normalisation,
                    element_width=ROOMY.element_width)
    return network, compile_job(prepare(graph, network, recipe), ROOMY)


def _instructions(job, opcode):
    return [one for one in map(decode, job.program) if one["opcode"] == opcode]


every_network = pytest.mark.parametrize("case", range(len(NETWORKS)))


@every_network
def test_whatever_has_a_place_is_written(case):
    """In all its panels; nothing has a place in vain, and parts of a step do not share one."""
    _, job = _roomy(case)
    drains, losses = (_instructions(job, opcode) for opcode in (Opcode.DRAIN, Opcode.LOSS))
    written = {(one["channel"], one["address"]) for one in drains}
    written |= {(1, one["destination"] + panel * one["stride"])
                for one in losses for panel in range(one["panels"])}
    masks = {one["mask_address"] for one in drains if one["mask_write"]}
    assert masks == {one["mask_address"] for one in drains if one["mask_read"]}
    states = {one["state"] for one in _instructions(job, Opcode.UPDATE)}
    places = set()
    for name, region in job.regions.items():
        if region.tensor and region.tensor.kind == Kind.MASK:
            assert region.address in masks, name
        elif region.columns and region.tensor != FEATURES:
            panels = {(region.channel, region.panel(panel)) for panel in range(region.panels)}
            assert region.panels == -(-region.columns // ROOMY.lanes) and panels <= written, name
            places |= panels
        elif name.startswith("state"):
            assert region.address in states, name
    assert written == places


@every_network
def test_channels(case):
    """What meets lies apart; where a gradient is only sent or summed, channel 1 is left to edges.
    """
    network, job = _roomy(case)
    for tensor in {region.tensor for region in job.regions.values() if region.tensor}:
        if tensor == FEATURES:
            continue
        layer = network.layers[tensor.layer - 1]
        hidden = tensor.layer < len(network.layers)
        apart = hidden and layer.order != LINEAR and not layer.root
        expected = {Kind.HIDDEN: 0, Kind.LOGITS: 0, Kind.COMBINED: 0, Kind.ROOT: 0,
                    Kind.AGGREGATED: int(hidden), Kind.GRADIENT: int(not apart)}
        assert job.regions[tensor].channel == expected.get(tensor.kind, 1), tensor


@every_network
def test_with_room_for_all_each_operand_is_read_once(case):
    """By the array, in a step; and what is left anywhere for another engine is taken there."""
    _, job = _roomy(case)
    program = list(map(decode, job.instructions("train")))
    read = [one for one in program
            if one["opcode"] in (Opcode.MATMUL, Opcode.GRADIENT) and not one.get("ones")]
    assert all(one["operand"] != OperandSource.MEMORY for one in read)
    filled = [(left_channel(one), one["address"]) for one in read
              if one["operand"] == OperandSource.FILL]
    assert len(filled) == len(set(filled))
    left = {one["operand_base"] + panel * one["operand_stride"] for one in read
            if one["operand"] == OperandSource.BUFFER for panel in range(one["panels"])}
    right = {one["bypass_base"] for one in program
             if one["opcode"] == Opcode.GRADIENT and one["bypassed"]}
    sent = {one["bypass_base"] for one in program
            if one["opcode"] == Opcode.AGGREGATE and one["bypassed"]}
    for one in program:
        for target, base, taken in ((Bypass.LEFT, "left_base", left),
                                    (Bypass.RIGHT, "right_base", right),
                                    (Bypass.SEND, "send_base", sent)):
            if one.get("bypass", 0) >> target & 1:
                assert one[base] in taken, (target, one)


@every_network
@pytest.mark.parametrize("adam", [False, True])
def test_parameters(case, adam):
    """Each has rows of the weight bank of its own, and state for as many values."""
    network, _ = _roomy(case)
    memory = MemoryMap(ROOMY, [6] * (len(network.layers) + 1))
    memory.words("before", 1, 7)
    weights, rows = place_weights(network, memory, ROOMY, 100, adam=adam)
    found = sorted((place.base, place.base + place.rows) for place in weights.values())
    assert [0, *(end for _, end in found)] == [*(base for base, _ in found), rows]
    assert len(memory.regions) == 1 + len(weights)
    shapes = {weight.name: weight.shape for number in range(1, len(network.layers) + 1)
              for weight in network.weights(number)}
    for name, place in weights.items():
        columns = network.layers[name.layer - 1].features_out
        assert place.shape == shapes.get(name, (1, columns)) and place.name == name
        assert place.panels == -(-columns // ROOMY.lanes)
        assert place.height == (1 if name.kind == Kind.BIAS else
                                -(-place.shape[0] // ROOMY.lanes) * ROOMY.lanes)
        assert (place.adam, place.state_values) == (adam, 3 if adam else 2)
        assert memory.regions[place.state.name] is place.state and place.state.channel == 1
        assert place.state.words == \
            -(-place.rows // ROOMY.cores) * place.state_values * ROOMY.state_words
    with pytest.raises(CapacityError, match=f"weight_rows is 16, but {rows} are needed"):
        place_weights(network, MemoryMap(ROOMY, []), ROOMY.replace(weight_rows=16), 100)


@pytest.mark.parametrize("name", [
    "two bypassed panels", "several strips", "GIN", "jumping", "orders that differ", "GCNII",
    "MixHop", "runs of GCNII"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
