# SPDX-License-Identifier: BSD-2-Clause
"""Older weights: what gradients are of, by steps with the weights given by hand."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.description.model import Model
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import prepare
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.older_weights import OlderWeightsGnn, stash_staleness
from hypercast.reference.recipe import Recipe

GRAPH = Graph.load("karate")
LATE = st.lists(st.integers(0, 3), min_size=2, max_size=2)


def models(staleness, **recipe):
    network = Model(hidden=(5,), order="combine_first").network(GRAPH)
    model = prepare(GRAPH, network, Recipe(epochs=9, **recipe))
    return model, OlderWeightsGnn(model, staleness)


def test_stashing_is_later_the_earlier_a_stage_is():
    assert stash_staleness([range(1, 3), range(3, 4), range(4, 7)]) == (2, 2, 1, 0, 0, 0)
    assert stash_staleness([range(1, 4)]) == (0, 0, 0)


@settings(max_examples=6, deadline=None)
@given(LATE)
def test_passes_take_what_was_newest_so_many_steps_before(staleness):
    _, oracle = models(staleness, optimiser="adam")
    newest = [oracle.newest] * (1 + max(staleness))
    for _ in range(5):
        oracle.train_step()
        newest.append(oracle.newest)
        for name, one in oracle.older.items():
            wanted = newest[-1 - staleness[name.layer - 1]][name]
            assert np.array_equal(one.values, wanted.values)
            assert one.exponent == wanted.exponent
            assert len(oracle.versions[name]) == staleness[name.layer - 1]
        assert any(not np.array_equal(one.values, newest[-2][name].values)
                   for name, one in oracle.newest.items())


def test_nothing_late_is_exact_training():
    model, oracle = models((0, 0))
    exact = FixedGnn(model)
    for _ in range(3):
        assert np.array_equal(oracle.train_step().loss, exact.train_step().loss)
    assert oracle.state().exponents == exact.state().exponents
    assert not oracle.state().versions


@settings(max_examples=4, deadline=None)
@given(LATE)
def test_gradients_are_those_of_exact_training_with_the_older_weights(staleness):
    model, oracle = models(staleness)
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
    model, oracle = models((2, 1))
    for _ in range(3):
        oracle.train_step()
    exact = FixedGnn(model)
    exact.load_state(oracle.state())
    assert np.array_equal(exact.evaluate().loss, oracle.evaluate().loss)
