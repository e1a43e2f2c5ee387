# SPDX-License-Identifier: BSD-2-Clause
"""Training on samples, by the same trainer as on whole graphs."""

from dataclasses import replace

import numpy as np
import pytest

from hypercast.host.compiler import compiled_edges
from hypercast.host.compiler.compiler import compile_job, with_sample
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import Description
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import SAMPLERS, Sampling
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.epochs import AHEAD_STEPS
from hypercast.host.training.trainer import Trainer
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.config import PRESETS
from tests.host.runtime.fake_chip import FakeChip
from tests.host.test_cli import refused


def trainer(sampler="neighbours", *, graph=None, model="gcn", order="auto", epochs=3, **options):
    values = {"batch": 20, "fan_outs": (4,), "coverage": 4.0}
    chosen = Sampling(sampler=sampler, **{
        key: value for key, value in values.items() if key in SAMPLERS.get(sampler, ())})
    return Trainer(graph or Graph.load("blocks"),
                   Model(name=model, hidden=(8,), dropout=(0.2,), order=order),
                   sampling=chosen, epochs=epochs, **options)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_every_sampler_learns(sampler):
    with trainer(sampler, epochs=15, learning_rate=0.2) as training:
        first, *_, last = training.fit()
    assert last["training_loss"] < 0.7 * first["training_loss"]
    assert last["validation_accuracy"] > first["validation_accuracy"]


@pytest.mark.parametrize(("model", "recipe"), [
    ("sage", {"learning_rate": 1.0}), ("gin", {"learning_rate": 0.002, "optimiser": "adam"})],
    ids=["sage", "gin"])
def test_models_and_several_labels(model, recipe):
    with trainer(graph=Graph(**communities(vertices=80)), model=model, epochs=20,
                 **recipe) as training:
        first, *_, last = training.fit()
        scores = training.evaluate()
        predictions = training.predict()
    assert last["training_loss"] < first["training_loss"]
    assert 0 < scores["test_macro_f1"] < 1
    assert predictions.classes.shape == (80, 5)


def test_samples_that_leave_out_most_vertices():
    """Vertices to train on that have no edges among them are in no sample of edges."""
    edges = [[0, 1], *([vertex, 31] for vertex in range(31))]
    graph = Graph.from_edges(edges, np.eye(32), np.arange(32) % 2, train=range(30))
    with pytest.raises(ValueError, match=r"samples of edges reach only 2 of 30 vertices to train "
                                         r"on; draw walks or neighbours instead"):
        trainer("edges", graph=graph)
    assert trainer("walks", graph=graph).epoch == 0


def test_a_schedule_counts_epochs():
    training = trainer(schedule=((1, 0.5),))
    model = training.initial
    steps = len(training.samples)
    assert steps > 1
    weights = Tensor(Kind.WEIGHTS, 1)
    rates = [model.recipe.learning_rate(weights, step) for step in (0, steps - 1, steps)]
    assert rates == [0.05, 0.05, 0.025]


def test_a_schedule_that_no_device_can_follow_is_refused_before_the_first_step():
    """However many steps an epoch has; what comes after the last epoch does not matter."""
    with pytest.raises(ValueError, match="learning rate"):
        trainer(schedule=((2, 1e30),))
    assert trainer(schedule=((3, 1e30),)).epoch == 0
    with pytest.raises(ValueError, match="learning rate"):
        Trainer(Graph.load("karate"), epochs=3, schedule=((2, 1e30),))
    assert Trainer(Graph.load("karate"), epochs=3, schedule=((3, 1e30),)).epoch == 0


def test_resumed_training_has_equal_bits(tmp_path):
    with trainer("walks", epochs=4) as whole:
        whole.fit()
        expected = whole.parameters()
    with trainer("walks", epochs=2, run=tmp_path / "run") as begun:
        begun.fit()
    with trainer("walks", epochs=4, run=tmp_path / "run", resume=True) as resumed:
        assert resumed.epoch == 2
        resumed.fit()
        assert [record["validation_loss"] for record in resumed.history] == [
            record["validation_loss"] for record in whole.history]
        for name, values in resumed.parameters().items():
            np.testing.assert_array_equal(values, expected[name])


def test_another_sampler_is_not_resumed(tmp_path):
    with trainer("walks", run=tmp_path / "run", epochs=1) as begun:
        begun.fit()
    with pytest.raises(ValueError, match="sampling"):
        trainer("nodes", run=tmp_path / "run", resume=True)


@pytest.mark.parametrize(("change", "message"), [
    ({"sampler": "layers"}, "sampler must be one of neighbours, nodes, edges, walks"),
    ({"batch": 0}, "batch must be 1 to 16777216, not 0"),
    ({"sampler": "walks", "coverage": 1e-320}, "coverage must be 0.001 to 1000, not 1e-320"),
    ({"sampler": "cut", "parts": 1 << 17}, "parts must be 1 to 65536, not 131072"),
    ({"fan_outs": (3, 0)}, r"fan_outs must be 1 to 2147483647, not \[3, 0\]"),
    ({"coverage": -1.0}, "coverage must be 0.001 to 1000"),
    ({"fan_outs": ()}, "fan_outs is empty; give one or more numbers"),
    ({"batch": 5}, "batch is of sampler neighbours or nodes or edges or walks, not of None"),
    ({"sampler": "edges", "fan_outs": (3,)}, "fan_outs is of sampler neighbours, not of edges"),
    ({"sampler": "nodes", "walk": 2}, "walk is of sampler walks, not of nodes; leave it out"),
    ({"sampler": "neighbours", "coverage": 2.0}, "coverage is of sampler nodes or edges or walks"),
])
def test_refusals(change, message):
    with pytest.raises(DescriptionError, match=message):
        Sampling(**change)


def test_what_needs_a_sampler():
    with pytest.raises(DescriptionError, match="needs sampler"):
        Description.of_sections({"sampling": {"batch": 5}})
    assert "leave one of them out" in refused(
        "train", "blocks", "--sampler", "walks", "--image", "image.bin", status=2)


def test_samples_have_one_unit_of_loss_weights():
    training = trainer("walks")
    model = FixedGnn(training.initial)
    other = replace(model.sample, loss_unit=2 * model.sample.loss_unit)
    with pytest.raises(ValueError, match="make all samples with one unit"):
        model.take(other)


def test_the_monitor_is_what_there_is():
    with pytest.raises(ValueError, match="watch validation_micro_f1"):
        trainer(None, graph=Graph(**communities(vertices=80)), patience=2,
                monitor="validation_accuracy")


def test_numbers_are_of_whole_graphs():
    with pytest.raises(ValueError, match="this training is on samples"):
        trainer().numbers()


def test_the_unit_of_an_epoch():
    training = trainer("walks")
    assert training.unit == f"epoch of {len(training.samples)} samples"
    assert trainer(None).unit == "training step"


def test_steps_on_several_samples(tmp_path):
    """They learn, their last step may have fewer samples, and they are resumed."""
    options = {"micro_batches": 3, "learning_rate": 0.2, "schedule": ((2, 0.5),)}
    with trainer("walks", epochs=8, **options) as whole:
        assert len(whole.samples) % 3
        first, *_, last = whole.fit()
        steps = -(-len(whole.samples) // 3)
        assert whole.target._device.oracle.step == 8 * steps
        assert whole.initial.recipe.schedule == ((2 * steps, 0.5),)
    assert last["training_loss"] < 0.95 * first["training_loss"]
    with trainer("walks", epochs=5, run=tmp_path / "run", **options) as begun:
        begun.fit()
    with trainer("walks", epochs=8, run=tmp_path / "run", resume=True, **options) as resumed:
        resumed.fit()
    assert [record["training_loss"] for record in resumed.history] == [
        record["training_loss"] for record in whole.history]


@pytest.mark.parametrize(("options", "message"), [
    ({"check": True}, "micro_batches is 2, but one sample a step can be compared"),
    ({"device": Device("rtl,reference", preset="tiny")},
     "name has 2 devices, rtl,reference, but 1 board trains; name one for all boards, or one for "
     "each"),
])
def test_what_takes_one_sample_a_step_only(options, message):
    with pytest.raises(DescriptionError, match=message):
        trainer("walks", micro_batches=2, **options)


def test_the_whole_graph_is_no_micro_batch():
    assert "micro_batches is 2, but steps work on the whole graph; give a sampler" in refused(
        "train", "karate", "--micro-batches", 2)


def test_slow_parts_are_announced():
    """Each of them before it begins; of a pool, how much of it there is."""
    for sampler, parts in (("nodes", ["sampling subgraphs in advance, 0 % done"]),
                           ("neighbours", [])):
        said = []
        trainer(sampler, device=Device(name="rtl"), order="fastest", progress=said.append)
        assert said[0].startswith("normalising ") and said[0].endswith(" edges")
        assert said[1:1 + len(parts)] == parts
        assert any(line.startswith("compiling messages of A") for line in said)
        assert said[-1] == "rounding edge weights and features, and trying the first step"


@pytest.mark.parametrize(("batch", "order", "ahead"), [
    (2, "aggregate_first", True), (2, "combine_first", False), (20, "aggregate_first", False)])
def test_steps_work_ahead_if_an_epoch_has_many(batch, order, ahead):
    config = PRESETS["test"]
    training = Trainer(
        Graph.load("blocks"), Model(hidden=(8,), dropout=(0.0,), order=(order,)), epochs=1,
        sampling=Sampling(sampler="neighbours", batch=batch, fan_outs=(4,)),
        device=Device("rtl", preset="test"), transport=FakeChip(config))
    with training:
        assert (len(training.samples) >= AHEAD_STEPS) == (batch == 2)
        assert training.job.ahead == ahead


def test_the_first_sample_is_compiled_once(monkeypatch):
    """To choose orders, for the program, and when it is trained on."""
    calls, compile_messages = [], compiled_edges.compile_messages
    monkeypatch.setattr(compiled_edges, "compile_messages", lambda matrix, *given, **named: (
        calls.append((matrix.shape, matrix.data.tobytes(), named["first_row"])),
        compile_messages(matrix, *given, **named))[1])
    training = trainer(device=Device("rtl", preset="test"))
    job = compile_job(training.initial, training.device.config, edges=training.edges,
                      capacity=training.samples.capacity())
    with_sample(job, next(training.samples.epoch(0)))
    assert len(calls) == len(set(calls)) > 2
