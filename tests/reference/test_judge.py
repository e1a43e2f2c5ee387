# SPDX-License-Identifier: BSD-2-Clause
"""Evaluations of parameters that were trained elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.float_gnn import FloatGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.judge import Judge
from hypercast.reference.recipe import LOSSES, Recipe
from hypercast.rtl.isa import MASTER_EXPONENT, Split
from tests.reference.random_data import data, labelled, network


@pytest.mark.parametrize("loss", LOSSES)
def test_metrics_are_those_of_real_numbers(loss):
    recipe, arguments = Recipe(loss=loss, learning_rates=(0.3,)), labelled(data(), loss)
    model = InitialModel.of(network(), recipe, *arguments)
    judge, trained = Judge(network(), recipe, model.sample), FixedGnn(model)
    real = FloatGnn(network(), recipe, *arguments)
    for _ in range(3):
        found = judge.judge(trained.state())
        real.parameters = {name: master * 2.0**MASTER_EXPONENT
                           for name, master in trained.masters.items()}
        for split in (Split.TRAIN, Split.VALIDATION, Split.TEST):
            assert found.mean_loss(split) == pytest.approx(
                real.evaluate().mean_loss(split), rel=0.002)
        for _ in range(5):
            trained.train_step()


def scaled(state, factor):
    """A state whose parameters are all so many times as large."""
    return replace(state, parameters={name: {"master": factor * arrays["master"]}
                                      for name, arrays in state.parameters.items()})


def test_zeros_have_no_exponents_of_what_was_judged_before():
    model = InitialModel.of(network(), Recipe(), *data())
    used, fresh = (Judge(network(), Recipe(), model.sample) for _ in range(2))
    used.judge(scaled(model.state, 16))
    for judge in (used, fresh):
        judge.judge(scaled(model.state, 0))
    assert used.exponents.entries() == fresh.exponents.entries()


def test_what_was_judged_before_makes_no_difference():
    """Exponents come from the pass itself, also where they fall."""
    model = InitialModel.of(network(), Recipe(), *data())
    used, state = Judge(network(), Recipe(), model.sample), model.state
    used.judge(scaled(state, 16))
    assert not +used.saturations
    fresh = Judge(network(), Recipe(), model.sample)
    assert all(map(np.array_equal, used.judge(state), fresh.judge(state)))
    assert np.array_equal(used.tensors["Z2.eval"], fresh.tensors["Z2.eval"])
    assert not +used.saturations


def test_no_headroom_is_left_above_features():
    """No training step follows, so what a recipe leaves free for one makes no difference."""
    found = {}
    for headroom in (-2, 0, 1, 3):
        recipe = Recipe(feature_headroom=headroom)
        model = InitialModel.of(network(), recipe, *data())
        judge = Judge(network(), recipe, model.sample)
        judge.judge(model.state)
        found[headroom] = judge.exponents.entries(), judge.tensors["Z2.eval"].tolist()
        assert (+judge.saturations != {}) == (headroom < 0)
    assert found[0] == found[1] == found[3] != found[-2]
