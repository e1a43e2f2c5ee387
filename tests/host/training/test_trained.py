# SPDX-License-Identifier: BSD-2-Clause
"""Predictions: exponents of an evaluation that no step will follow."""

import warnings
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from hypercast import Device, Graph, Model, Sampling, Trainer
from hypercast.host.graphs.rank_order import rank_order
from hypercast.host.training.numbers import SaturationWarning
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.tensor import Kind, Pass, Tensor

KARATE = Graph.load("karate")
MODELS = {
    "gcn": Model(hidden=(5, 4)), "sage": Model("sage", layers=3, hidden=4),
    "gin": Model("gin", hidden=5), "gin, jumping": Model("gin", layers=2, hidden=5, jumping=True),
    "residual": Model(hidden=(5, 5, 5), residual=True)}
#: Steps at which features and weights outgrow their headroom, or die.
HIGH_RATE = {"learning_rate": 4.0, "headroom": 0, "gradient_headroom": 3}


def logits_that_choose_exponents(trainer):
    """Logits of the reference's pass that chooses each exponent from the tensor itself."""
    recipe = trainer.recipe
    oracle = FixedGnn(replace(trainer.initial, recipe=replace(
        recipe, headroom=0, feature_headroom=min(recipe.feature_headroom, 0))))
    oracle.load_state(trainer.target.state())
    oracle.calibrate_during(oracle.forward)
    name = Tensor(Kind.LOGITS, len(trainer.network.layers), Pass.EVALUATION)
    logits = np.empty(oracle.tensors[name].shape)
    logits[rank_order(KARATE)] = np.ldexp(oracle.tensors[name].astype(float),
                                          oracle.exponents[name])
    return logits


def entries(state):
    return (state.step, state.exponents, state.momentum_exponents,
            {f"{name}.{kind}": values.tolist() for name, arrays in state.parameters.items()
             for kind, values in arrays.items()})


@pytest.mark.filterwarnings("ignore::hypercast.host.training.numbers.SaturationWarning")
@pytest.mark.parametrize(("elements", "recipe"), [
    (8, {"learning_rate": 0.05}), (16, {"learning_rate": 0.05}),
    (8, HIGH_RATE | {"learning_rate": 0.25}), (16, HIGH_RATE)],
    ids=["8, low rate", "16, low rate", "8, high rate", "16, high rate"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_predictions_leave_no_headroom(model, elements, recipe):
    with Trainer(KARATE, model, Device(elements=elements), epochs=5, **recipe) as trainer:
        for _ in trainer:
            found = trainer.predict().logits
            assert np.array_equal(found, logits_that_choose_exponents(trainer))


@pytest.mark.filterwarnings("ignore::hypercast.host.training.numbers.SaturationWarning")
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_training_goes_on_as_if_nothing_had_been_predicted(model):
    def train(predicts):
        with Trainer(KARATE, model, epochs=4, learning_rate=0.05) as trainer:
            for _ in trainer:
                if predicts:
                    before = trainer.target.state()
                    trainer.predict()
                    assert entries(trainer.target.state()) == entries(before)
            return trainer.history, entries(trainer.target.state())

    assert train(predicts=True) == train(predicts=False)


def test_a_training_that_cannot_predict_goes_on_from_its_state(monkeypatch):
    with Trainer(KARATE, Model("gin", hidden=5), epochs=4) as trainer:
        next(iter(trainer))
        before, evaluate, rounds = trainer.target.state(), trainer.target.evaluate, []

        def fail_at_last():
            rounds.append(evaluate())
            if len(rounds) == 2:
                raise ArithmeticError("in the second evaluation")

        monkeypatch.setattr(trainer.target, "evaluate", fail_at_last)
        with pytest.raises(ArithmeticError, match="second"):
            trainer.predict()
        assert entries(trainer.target.state()) == entries(before)
        # The error is that of the evaluation, though the device does nothing any more.
        rounds.clear()
        monkeypatch.setattr(trainer.target, "load_state", Mock(side_effect=[None, OSError("gone")]))
        with pytest.raises(ArithmeticError, match="second"):
            trainer.predict()


def test_features_that_outgrow_a_step_do_not_saturate_in_predictions():
    """Evaluations of records do, so their logits are far off."""
    outgrew = 0
    with Trainer(KARATE, Model(hidden=8, dropout=0), epochs=6, **HIGH_RATE) as trainer:
        for _ in trainer:
            oracle = trainer.target.oracle
            before = oracle.saturations.copy()
            oracle.evaluate()
            outgrew += (oracle.saturations - before).total() > 0
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                trainer.predict()
            for warning in caught:
                assert warning.category is SaturationWarning
                named = str(warning.message).partition(" of ")[2].partition(" saturated")[0]
                assert {name[0] for name in named.split(", ")} <= set("Wb")
    assert outgrew


def test_samples_are_predicted_as_they_are_evaluated():
    with Trainer(KARATE, Model("sage", hidden=5), sampling=Sampling("neighbours", batch=8),
                 epochs=2) as trainer:
        trainer.fit()
        trainer.target.evaluate()
        mantissas, exponent = trainer.target.logits()
        logits = np.empty(mantissas.shape)
        logits[rank_order(KARATE)] = np.ldexp(mantissas.astype(float), exponent)
        assert np.array_equal(trainer.predict().logits, logits)
