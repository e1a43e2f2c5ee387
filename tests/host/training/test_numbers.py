# SPDX-License-Identifier: BSD-2-Clause
"""Numbers of a step: float64 values by the same names, and how far the integers are from them."""

import warnings
from collections import Counter

import numpy as np
import pytest

from hypercast import Device, Graph, Model, Trainer
from hypercast.host.graphs.rank_order import rank_order
from hypercast.host.training.numbers import SaturationWarning
from hypercast.host.training.prepare import prepare, training_data
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.float_gnn import FloatGnn
from hypercast.reference.float_step import float_step
from hypercast.reference.initial_parameters import initial_parameters
from hypercast.reference.tensor import BACKWARD
from hypercast.rtl.isa import MASTER_EXPONENT, Split

KARATE = Graph.load("karate")
MODELS = {"gcn": Model(hidden=(5, 4)), "aggregate first": Model(dropout=0, order="aggregate_first"),
          "sage, jumping": Model("sage", layers=2, hidden=5, jumping=True),
          "gin": Model("gin", hidden=5), "residual": Model(hidden=(5, 5), residual=True),
          "gin, jumping": Model("gin", layers=2, hidden=5, jumping=True)}


def numbers(model, elements=16, **options):
    with Trainer(KARATE, model, Device(elements=elements), epochs=6, learning_rate=0.05,
                 **options) as trainer:
        trainer.fit()
        return trainer, {tensor.name: tensor for tensor in trainer.numbers()}


@pytest.mark.parametrize(("graph", "model"), [
    *((KARATE, model) for model in MODELS.values()), (Graph.load("communities"), Model())],
    ids=[*MODELS, "several labels"])
def test_float_tensors_are_those_of_the_float_model(graph, model):
    """Logits, and the gradients of logits and hidden sums, of a step with dropout."""
    with Trainer(graph, model, epochs=1) as trainer:
        network, recipe = trainer.network, trainer.recipe
    data = training_data(graph, recipe)
    expected = FloatGnn(network, recipe, *data)
    layers = expected.forward(training=True)
    found = float_step(
        network, initial_parameters(network, 0), *data[:4], expected.step_key)
    last = len(network.layers)
    assert np.allclose(found[f"Z{last}"], layers[-1][1])
    gradients = expected.gradients(layers)
    count = np.count_nonzero(data[3] == Split.TRAIN)
    count *= graph.classes if graph.multi_label else 1
    assert np.allclose(found[f"dZ{last}"].sum(axis=0) / count, gradients[f"b{last}"])
    assert np.allclose(found["dZ1"].sum(axis=0) / count, gradients["b1"])


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_tensor_of_a_step_is_there_and_near(model):
    trainer, found = numbers(model)
    reference = FixedGnn(prepare(KARATE, trainer.network, trainer.recipe))
    reference.train_step()
    names = {name for name in reference.tensors if not name.endswith(".eval")}
    assert found.keys() == names
    for tensor in found.values():
        assert tensor.bits <= 16 and tensor.saturations >= 0
        if not trainer.saturations and not any(one.saturations for one in found.values()):
            assert tensor.error is None or tensor.error < 5e-3, tensor


def test_8_bits_are_coarser():
    for narrow, wide in zip(*(numbers(MODELS["gcn"], elements)[1].values() for elements in (8, 16)),
                            strict=True):
        assert narrow.name == wide.name and narrow.bits <= 8
        if wide.error:
            assert narrow.error > 20 * wide.error


def test_ranges_and_errors_of_what_is_exact():
    _, found = numbers(MODELS["gcn"])
    assert found["X"] == ("X", 0, 1.0, 2, 0, 0.0)


def test_several_labels_per_vertex():
    # With this seed no sum is next to zero, ReLU's kink.
    with Trainer(Graph.load("communities"), epochs=5, seed=1) as trainer:
        trainer.fit()
        for tensor in trainer.numbers():
            # Gradients of features have two more bits of headroom.
            bound = 4e-3 if tensor.name.kind in BACKWARD else 1e-3
            assert tensor.saturations or tensor.error is None or tensor.error < bound, tensor


def test_saturations_are_those_of_the_step():
    with Trainer(KARATE, Model(hidden=4), epochs=40, learning_rate=2.0) as trainer:
        trainer.fit()
        expected = sum(tensor.saturations for tensor in trainer.numbers())
        assert trainer.target.train_step() is not None
        assert trainer.target.saturations == expected


def test_the_training_goes_on_as_if_nothing_had_been():
    trainer, _ = numbers(MODELS["gcn"])
    with Trainer(KARATE, MODELS["gcn"], epochs=6, learning_rate=0.05) as other:
        other.fit()
        states = trainer.target.state(), other.target.state()
        assert states[0].exponents == states[1].exponents


@pytest.mark.parametrize(("use", "of_features"), [
    (lambda trainer, path: trainer.evaluate(), True),
    (lambda trainer, path: trainer.predict(), False),
    (lambda trainer, path: trainer.save_weights(path / "weights.safetensors"), True)],
    ids=["evaluate", "predict", "weights"])
def test_evaluations_that_saturate_are_warned_of(use, of_features, tmp_path):
    """Steps at a high rate outgrow features that have no headroom; later ones go by their peaks.

    Predictions have exponents that fit the features, but not the weights.
    """
    warned = 0
    with Trainer(KARATE, Model(hidden=8, dropout=0), epochs=6, learning_rate=8.0, headroom=0,
                 gradient_headroom=3) as trainer:
        for _ in trainer:
            oracle = trainer.target.oracle
            saturated = oracle.saturations.copy()
            oracle.evaluate()
            saturated = oracle.saturations - saturated if of_features else Counter()
            for name, master in oracle.masters.items():
                # What is stored, and cannot be nearer to what should be.
                off = np.ldexp(oracle.tensors[name].astype(float), oracle.exponents[name]) \
                    - np.ldexp(master.astype(float), MASTER_EXPONENT)
                saturated[name] += int(np.count_nonzero(abs(off) > 2.0**oracle.exponents[name] / 2))
            saturated = +saturated
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                use(trainer, tmp_path)
            texts = [str(warning.message) for warning in caught
                     if warning.category is SaturationWarning]
            assert len(texts) == bool(saturated)
            if saturated:
                warned += 1
                count = saturated.total()
                assert texts[0].startswith(f"{count} element{'s' * (count > 1)} of ")
                named = texts[0].partition(" of ")[2].partition(" saturated")[0].split(", ")
                assert named == sorted({name.of_training for name in saturated})
    assert 0 < warned < 6


def test_how_far_logits_are_from_those_of_float64():
    with Trainer(KARATE, Model(hidden=8, dropout=0), epochs=6, learning_rate=8.0, headroom=0,
                 gradient_headroom=3) as trainer:
        for _ in trainer:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = trainer.predict().logits
            expected = FloatGnn(trainer.network, trainer.recipe,
                                *training_data(KARATE, trainer.recipe))
            expected.parameters.update({
                name: np.ldexp(master.astype(float), MASTER_EXPONENT)
                for name, master in trainer.target.oracle.masters.items()})
            logits = np.empty_like(found)
            logits[rank_order(KARATE)] = expected.forward(training=False)[-1][1]
            off = np.abs(found - logits).max() / np.abs(logits).max()
            for warning in caught:
                assert f"up to {off:.1%} of the largest" in str(warning.message)
            assert caught or off < 0.01
