"""What programs and predictions begin with alike."""

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.label_list import LabelFormat
from hypercast.host.compiler.layout import Layout
from hypercast.host.compiler.vertices import RowTable, Vertices
from tests.host.models import SMALL, named_model, small_graph

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
        assert (place.base, place.height, place.chunks) == (other.base, other.height, other.chunks)


def test_edges_lie_between_tensors_and_labels():
    model = named_model("gcn", small_graph(40), config=CONFIG)
    vertices = [Vertices.of(40, CONFIG, RowTable())] * 3
    layout = Layout.of(model.network, CONFIG, vertices, LabelFormat(),
                       edges=lambda memory: memory.words("edges", 1, 5))
    names = [str(name) for name in layout.memory.regions]
    assert names.index("mask1") < names.index("edges") == names.index("labels") - 1
