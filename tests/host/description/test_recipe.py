# SPDX-License-Identifier: BSD-2-Clause
"""Keys of recipes: what counts with what, and defaults by optimiser."""

import pytest

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.model import Model
from hypercast.host.description.recipe import make_recipe, recipe_values
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, CROSS_ENTROPY
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.config import PRESETS

WEIGHTS, BIAS = Tensor(Kind.WEIGHTS, 1), Tensor(Kind.BIAS, 2)


def recipe(model="gcn", **values):
    return make_recipe(values, Model(model), PRESETS["tiny"])


@pytest.mark.parametrize(("optimiser", "model", "loss", "rate"), [
    ("sgd", "gcn", CROSS_ENTROPY, 0.05), ("sgd", "gin", CROSS_ENTROPY, 0.05 / 16),
    ("sgd", "sage", BINARY_CROSS_ENTROPY, 0.8), ("adam", "gin", BINARY_CROSS_ENTROPY, 0.01)])
def test_default_learning_rates(optimiser, model, loss, rate):
    found = make_recipe({"optimiser": optimiser}, Model(model), PRESETS["tiny"], loss)
    assert found.learning_rate(WEIGHTS, 0) == found.learning_rate(BIAS, 0) == rate
    assert found.explicit().learning_rates == found.explicit().bias_learning_rates == (rate,)
    assert "learning_rate" not in recipe_values(found)
    given = make_recipe({"learning_rate": 0.3, "optimiser": optimiser}, Model(model),
                        PRESETS["tiny"], loss)
    assert (given.learning_rate(WEIGHTS, 0), given.learning_rate(BIAS, 0)) == (0.3, rate)


@pytest.mark.parametrize(("values", "message"), [
    ({"optimiser": "adam", "momentum": 0.9}, "momentum counts with optimiser sgd only, not with "),
    ({"betas": (0.9, 0.99)}, "betas counts with optimiser adam only, not with sgd; leave it out"),
    ({"epsilon": 1e-8}, "epsilon counts with optimiser adam only"),
    ({"gin_epsilon": 0.0}, "gin_epsilon counts with normalisation sum only, not with symmetric"),
])
def test_what_would_be_ignored_is_refused(values, message):
    with pytest.raises(DescriptionError, match=message) as refusal:
        recipe(**values)
    assert refusal.value.key in values


@pytest.mark.parametrize(("model", "optimiser"), [("gcn", "sgd"), ("gin", "adam")])
def test_values_make_the_same_recipe(model, optimiser):
    found = recipe(model, optimiser=optimiser)
    values = recipe_values(found)
    assert recipe(model, **values) == found
    assert ("momentum" in values, "betas" in values, "gin_epsilon" in values) == (
        optimiser == "sgd", optimiser == "adam", model == "gin")
