# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from hypercast.reference.adam import AdamResult, adam_update
from hypercast.reference.arithmetic import UpdateResult, update
from hypercast.reference.recipe import Recipe
from hypercast.reference.updates import update_rows


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_the_optimiser_follows_from_the_constants(optimiser):
    generator = np.random.default_rng(0)
    gradient, master, momentum = generator.integers(-2**20, 2**20, (3, 4, 5))
    second = generator.integers(0, 2**25, (4, 5))
    rates = Recipe(optimiser=optimiser).rates(0.1, 1e-3, 0.01, -20)
    kept = {"master": master, "momentum": momentum}
    if optimiser == "adam":
        kept["second_moment"] = second
        expected = adam_update(gradient, master, momentum, second, rates, 18, 12, 16)
    else:
        expected = update(gradient, master, momentum, rates, 18, 12, 16)
    before = {kind: values.copy() for kind, values in kept.items()}
    found = update_rows(kept, gradient, rates, 18, 12, 16)
    assert isinstance(found, AdamResult if optimiser == "adam" else UpdateResult)
    assert all(map(np.array_equal, expected, found))
    assert all(np.array_equal(values, before[kind]) for kind, values in kept.items())
