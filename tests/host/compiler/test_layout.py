"""What programs and predictions begin with alike."""

from itertools import product

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.label_list import LabelFormat
from hypercast.host.compiler.layout import Layout, place_operands
from hypercast.host.compiler.operand_map import Parts
from hypercast.host.compiler.vertices import RowTable, Vertices
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.tensor import FEATURES, Kind, Tensor
from hypercast.rtl.isa import Bypass, Opcode, decode
from tests.host.models import SMALL, named_model, small_graph, small_model

CONFIG = SMALL.replace(channel_words=4096, program_rows=1024, weight_rows=256, tensors=64)


@pytest.mark.parametrize(("name", "additions"), [
    ("gcn", {}), ("sage", {}), ("gin", {"hidden": (4, 4)}), ("gcn", {"jumping": True})])
def test_all_but_edges_and_features_lies_as_in_a_job(name, additions):
    """In the same order."""
    model = named_model(name, small_graph(40), config=CONFIG, **additions)
    table = RowTable()
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
    vertices = [Vertices.of(40, CONFIG, RowTable())] * 3
    layout = Layout.of(model.network, CONFIG, vertices, LabelFormat(),
                       edges=lambda memory: memory.words("edges", 1, 5))
    names = [str(name) for name in layout.memory.regions]
    assert names.index("mask1") < names.index("edges") == names.index("labels") - 1


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
    layout = Layout.of(model.network, config, [Vertices.of(12, config, RowTable())] * 4,
                       LabelFormat.of(model))
    places = place_operands(config, model.network, layout.memory, layout.vertices,
                            Parts.dense(FEATURES, 3, 6)).bypass
    sent, right = ([places.base(target, Tensor(kind, number), 0) is not None for number in (1, 3)]
                   for target, kind in ((Bypass.SEND, Kind.COMBINED),
                                        (Bypass.RIGHT, Kind.COMBINED_GRADIENT)))
    assert (sent, right) == ([False, True], [True, False])
