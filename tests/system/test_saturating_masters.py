# SPDX-License-Identifier: BSD-2-Clause
"""Master weights that reach the end of their 32 bits do so alike on chip and reference."""

import numpy as np
import pytest

from hypercast.host.runtime.check import Check
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.single_device import SingleDevice
from hypercast.host.training.prepare import open_device, prepare
from hypercast.reference.initial_parameters import initial_parameters
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from tests.system.chips import NARROW, random_graph

_EDGE = 32 - 2.0**-26


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_masters_saturate_alike(optimiser):
    graph = random_graph(40, 80, classes=3, seed=1)
    network = Network.of_widths([graph.features.shape[1], 6, 3], dropout=0.0)
    recipe = Recipe(epochs=4, optimiser=optimiser, learning_rates=(0.5,),
                    element_width=NARROW.element_width)
    signs = np.random.default_rng(1)
    parameters = {name: np.where(signs.random(values.shape) < 0.5, -32.0, _EDGE)
                  for name, values in initial_parameters(network, 0).items()}
    model = prepare(graph, network, recipe, NARROW, parameters)
    oracle = ReferenceDevice(model)
    device = SingleDevice(
        open_device("rtl", model, NARROW), check=Check(oracle, NARROW.lanes))
    try:
        for _ in range(recipe.epochs):
            device.train_step()
        assert device.words.equal == device.words.words > 0
        masters = np.concatenate([arrays["master"].ravel()
                                  for arrays in device.state().parameters.values()])
        assert oracle.oracle.saturations["W1"] + oracle.oracle.saturations["W2"] > 0
        assert {-(1 << 31), (1 << 31) - 1} <= {*masters.tolist()}
        assert np.count_nonzero(abs(masters) < (1 << 31) - 1) > 0  # others moved
    finally:
        device.close()
