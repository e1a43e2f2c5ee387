# SPDX-License-Identifier: BSD-2-Clause
"""Keys of recipes: what counts with what, defaults by optimiser, numbers for each layer.

Numbers for layers that there are not are refused, with the file and the line if there is one.
"""

import pytest

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import load_description
from hypercast.host.description.model import Model
from hypercast.host.description.recipe import check_layer_numbers, make_recipe, recipe_values
from hypercast.host.description.sampling import Sampling
from hypercast.host.training.trainer import Trainer
from hypercast.reference.network import Network
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, CROSS_ENTROPY, Recipe
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


@pytest.mark.parametrize(("recipe", "sampling", "message"), [
    ({"learning_rates": (1.0, 2.0, 3.0)}, {}, r"^\[recipe\] learning_rate has 3 numbers, but the "
     r"network has 2 layers; give"),
    ({"weight_decays": (0.1, 0.2, 0.3)}, {}, r"\[recipe\] weight_decay has 3"),
    ({}, {"sampler": "neighbours", "fan_outs": (1, 2, 3)}, r"\[sampling\] fan_outs has 3 numbers, "
     r"but the network has 2 convolutions"),
])
def test_numbers_that_are_left_over(recipe, sampling, message):
    network = Network.of_widths([4, 3, 2])
    with pytest.raises(DescriptionError, match=message):
        check_layer_numbers(network, Recipe(**recipe), Sampling(**sampling))
    deeper = Network.of_widths([4, 3, 3, 2])
    check_layer_numbers(deeper, Recipe(**recipe), Sampling(**sampling))


def test_the_file_is_named_unless_its_value_was_changed(tmp_path):
    path = tmp_path / "training.toml"
    path.write_text('[graph]\nsource = "karate"\n[recipe]\nepochs = 1\nweight_decay = [1, 2, 3]\n')
    with pytest.raises(DescriptionError, match=rf"^{path}, line 5: \[recipe\] weight_decay has 3"):
        Trainer.of_description(load_description(path))
    with pytest.raises(DescriptionError, match=r"^\[recipe\] weight_decay has 4"):
        Trainer.of_description(load_description(
            path, {"recipe": {"weight_decay": (1.0, 2.0, 3.0, 4.0)}}))
