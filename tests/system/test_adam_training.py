# SPDX-License-Identifier: BSD-2-Clause
"""The whole chip trains with Adam in every word as the reference does."""

import numpy as np
import pytest

from hypercast.host.graphs.graph import Graph
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from tests.system.chips import NARROW, WIDE, GraphTraining, random_graph

_RECIPE = {"optimiser": "adam", "learning_rates": (0.01,), "bias_learning_rates": (0.02,),
           "weight_decays": (5e-4, 0.0)}


@pytest.mark.parametrize("config", [NARROW, WIDE], ids=["8 bits", "16 bits"])
def test_words(config):
    """Masters, moments, operands and all other tensors of three steps."""
    training = GraphTraining(graph=Graph.load("karate"), config=config, hidden=(16,), dropout=0.5,
                             epochs=3, recipe=_RECIPE)
    assert any(np.any(arrays["second_moment"]) for arrays in _trained(training).kept.values())
    training.check()


def test_several_chunks():
    """UPDATEs of a parameter in chunks, each with state of its own; both orders of products."""
    graph = random_graph(20, 50, features=65, seed=8)
    GraphTraining(graph=graph, config=NARROW, hidden=(3,), epochs=3,
                  orders=(AGGREGATE_FIRST, COMBINE_FIRST),
                  recipe={**_RECIPE, "betas": (0.5, 0.9), "epsilon": 1e-3,
                          "schedule": ((1, 0.5),)}).check()


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_gradients_that_grow(optimiser):
    """The chip's momenta change their units as the reference's do."""
    rates = (0.01,) if optimiser == "adam" else (100.0,)
    schedule = ((1, 100.0), (3, 50.0)) if optimiser == "adam" else ()
    training = GraphTraining(graph=Graph.load("karate"), config=NARROW, hidden=(8, 8), dropout=0.0,
                             epochs=6,
                             recipe={"optimiser": optimiser, "learning_rates": rates,
                                     "bias_learning_rates": rates, "weight_decays": (0.01,),
                                     "schedule": schedule})
    oracle = FixedGnn(training.model())
    raised = 0
    for _ in range(6):
        oracle.train_step()
        raised += len(oracle.rules.momentum_exponents.raised)
    assert raised
    training.check()


def _trained(training):
    oracle = FixedGnn(training.model())
    oracle.train_step()
    return oracle
