"""Two versions of the weights: what gradients are of, by steps with the weights given by hand."""

import numpy as np

from hypercast.host.graphs.graph import Graph
from hypercast.host.training.description.model import Model
from hypercast.host.training.prepare import prepare
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.recipe import Recipe
from hypercast.reference.two_versions import TwoVersionsGnn

GRAPH = Graph.load("karate")


def models(**recipe):
    network = Model(hidden=(5,), order="combine_first").network(GRAPH)
    model = prepare(GRAPH, network, Recipe(epochs=9, **recipe))
    return model, TwoVersionsGnn(model)


def test_passes_take_what_was_newest_a_step_before():
    _, oracle = models(optimiser="adam")
    for _ in range(4):
        before = oracle.newest
        oracle.train_step()
        for name, one in oracle.older.items():
            assert np.array_equal(one.values, before[name].values)
            assert one.exponent == before[name].exponent
        assert any(not np.array_equal(one.values, before[name].values)
                   for name, one in oracle.newest.items())


def test_gradients_are_those_of_exact_training_with_the_older_weights():
    model, oracle = models()
    for _ in range(3):
        oracle.train_step()
    exact = FixedGnn(model)
    exact.load_state(oracle.state())
    for name, one in oracle.older.items():
        exact.tensors[name], exact.exponents[name] = one
    exact.begin_step()
    oracle.begin_step()
    gradients = [each.step_sums().gradients for each in (exact, oracle)]
    assert all(np.array_equal(gradients[0][name], gradients[1][name]) for name in gradients[0])


def test_evaluations_take_the_newest():
    model, oracle = models()
    for _ in range(3):
        oracle.train_step()
    exact = FixedGnn(model)
    exact.load_state(oracle.state())
    assert np.array_equal(exact.evaluate().loss, oracle.evaluate().loss)
