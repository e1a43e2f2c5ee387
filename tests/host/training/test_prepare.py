# SPDX-License-Identifier: BSD-2-Clause
"""Choosing orders and compiling share what they make of a graph."""

import numpy as np
import pytest

from hypercast import Device, Model, Trainer
from hypercast.host.compiler import compiled_edges
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.graph import Graph, GraphError
from hypercast.host.runtime.epochs import AHEAD_STEPS
from hypercast.host.schemes.sample_source import SampleSource
from hypercast.host.training import prepare
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from tests.host.models import SMALL, small_graph
from tests.host.runtime.fake_chip import FakeChip

CONFIG = SMALL.replace(channel_words=4096, program_rows=512)


@pytest.fixture
def compiled(monkeypatch):
    """What messages are compiled of: a matrix' entries and the first row of each call."""
    calls, compile_messages = [], compiled_edges.compile_messages

    def counted(matrix, config, *, first_row, rows):
        calls.append((*(part.tobytes() for part in (matrix.indices, matrix.data)), first_row))
        return compile_messages(matrix, config, first_row=first_row, rows=rows)

    monkeypatch.setattr(compiled_edges, "compile_messages", counted)
    return calls


@pytest.fixture
def rounded(monkeypatch):
    """A list with an entry for each time that a graph is rounded."""
    calls, of = [], Sample.of.__func__

    def counted(cls, *arguments):
        calls.append(cls)
        return of(cls, *arguments)

    monkeypatch.setattr(Sample, "of", classmethod(counted))
    return calls


@pytest.mark.parametrize(("directed", "name", "rows", "messages"), [
    (False, "gcn", 64, 1), (True, "gcn", 64, 2), (True, "gcn", 16, 4), (False, "sage", 64, 2)])
def test_a_graph_is_compiled_once(compiled, rounded, directed, name, rows, messages):
    """Each strip of each matrix: of the adjacency, its transpose, and rows that are added."""
    graph = small_graph(40, directed=directed)
    config = CONFIG.replace(accumulator_rows=rows)
    network = model_network(name, graph.features.shape[1], (4,), graph.classes)
    recipe = Recipe(normalisation=MODELS[name].normalisation)
    model, edges = prepare.prepare_for(config, graph, network, recipe)
    job = compile_job(model, config, edges=edges)
    assert len(compiled) == len(set(compiled)) == messages
    assert len(rounded) == 1
    alone = compile_job(model, config)
    assert job.program == alone.program and job.regions == alone.regions
    for image, other in zip(job.images, alone.images, strict=True):
        assert [name for name, _ in image] == [name for name, _ in other]
        for (_, words), (_, others) in zip(image, other, strict=True):
            np.testing.assert_array_equal(words, others)


def test_a_trainer_hands_it_on(compiled, rounded, monkeypatch):
    """To its device; an image is compiled of the same, too."""
    monkeypatch.setattr(prepare, "open_transport",
                        lambda name, config, waves, progress: FakeChip(config))
    device = Device("rtl", preset="test")
    with Trainer(small_graph(40), Model(hidden=4), device, epochs=1) as trainer:
        program = trainer.target.chip.job.program
        image = compile_job(trainer.initial, device.config, edges=trainer.edges)
    assert len(compiled) == len(rounded) == 1
    assert image.program == program


@pytest.mark.parametrize(("batch", "micro_batches", "ahead"), [(1, 1, True), (20, 1, False),
                                                               (1, 2, False)])
def test_orders_are_chosen_for_the_steps_that_run(monkeypatch, batch, micro_batches, ahead):
    """As devices compile them: features stay, and enough samples are worked ahead for."""
    asked, choose_orders = [], prepare.choose_orders
    monkeypatch.setattr(prepare, "choose_orders", lambda workload: (
        asked.append(workload), choose_orders(workload))[1])
    graph, recipe = small_graph(80), Recipe(normalisation="mean", micro_batches=micro_batches)
    network = model_network("gcn", graph.features.shape[1], (4,), graph.classes)
    source = SampleSource(graph, network, recipe, Sampling(
        sampler="neighbours", batch=batch, fan_outs=(2,)))
    prepare.prepare_sampled(source, network, recipe, CONFIG)
    [workload] = asked
    assert workload.resident and workload.pipelined == ahead == (
        len(source) >= AHEAD_STEPS and micro_batches == 1)


@pytest.mark.parametrize("kind", ["symmetric", "mean", "neighbours"])
def test_errors_name_the_vertices_that_were_given(kind):
    edges = [(vertex, vertex + 1) for vertex in range(5)]
    graph = Graph.from_edges(edges, np.eye(6), [0, 1] * 3, train=[0], weights=[1, 1, 1, 1, -9])
    with pytest.raises(GraphError) as expected:
        graph.normalise(kind)
    with pytest.raises(GraphError) as found:
        prepare.training_data(graph, Recipe(normalisation=kind))
    assert str(found.value) == str(expected.value) and "vertex 4" in str(found.value)
