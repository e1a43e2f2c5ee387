# SPDX-License-Identifier: BSD-2-Clause
"""Exponents of momenta: headroom in the first step, and how they follow gradients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import prepare
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.fixed_layers import Gradient
from hypercast.reference.models import model_network
from hypercast.reference.momentum_exponents import MomentumExponents, first_momentum_exponent
from hypercast.reference.recipe import Recipe


def gradient(exponent, reach):
    """One of reach ``reach``, and more than half of that."""
    left = np.array([[1 << reach - exponent - 1]])
    right = np.array([[1]])
    return Gradient(left, right, left * right, exponent)


@pytest.mark.parametrize(("exponent", "reach", "kept", "least", "expected"), [
    (-30, 10, 0.0, -128, 10 + 4 - 31),     # 16 times its reach in 31 bits
    (-30, 10, 0.9, -128, 10 + 4 + 4 - 31),  # which ten such gradients build up to
    (-30, -25, 0.0, -128, -40),            # no finer than 10 bits below its unit
    (-30, -25, 0.0, -12, -12),
])
def test_first_step(exponent, reach, kept, least, expected):
    assert first_momentum_exponent(
        gradient(exponent, reach), kept=kept, least=least) == expected


def test_momenta_of_gradients_with_headroom_are_as_much_coarser():
    assert first_momentum_exponent(gradient(-30, -25), kept=0.0, least=-128, coarser=2) == -38
    assert Recipe().gradient_coarseness == 2
    assert Recipe(element_width=8).gradient_coarseness == 0
    assert Recipe(headroom=3, gradient_headroom=1).gradient_coarseness == 0


@given(st.lists(st.integers(-3, 2), max_size=40))
def test_follows_gradients(growth):
    """It never goes down, and stays within 3 bits of gradients that grow by a bit a step."""
    first, factor = -27, -30
    exponents = MomentumExponents({"W1": first}, {"W1": factor})
    for bits in growth:
        factor += bits
        before = exponents["W1"]
        outgrown = factor - before > -30 - first + 3
        exponents.follow({"W1": factor})
        assert exponents.raised == ({"W1"} if outgrown else set())
        assert exponents["W1"] == before + outgrown


def test_a_training_whose_gradients_grow():
    """From small learning rates to large ones: without raised exponents it stops, or saturates."""
    graph = Graph.load("karate")
    network = model_network("gin", graph.features.shape[1], (8,), graph.classes)
    recipe = Recipe(optimiser="adam", learning_rates=(0.001,), bias_learning_rates=(0.001,),
                    schedule=((3, 100.0),), weight_decays=(0.0,), normalisation="sum",
                    element_width=8)
    oracle = FixedGnn(prepare(graph, network, recipe))
    before = oracle.rules.momentum_exponents.entries()
    raised = set()
    for _ in range(60):
        oracle.train_step()
        raised |= oracle.rules.momentum_exponents.raised
    assert raised
    for name, exponent in oracle.rules.momentum_exponents.entries().items():
        assert exponent > before[name] if name in raised else exponent == before[name]
        assert np.abs(oracle.kept[name]["momentum"]).max() < (1 << 31) - 1
