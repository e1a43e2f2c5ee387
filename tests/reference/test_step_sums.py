# SPDX-License-Identifier: BSD-2-Clause
"""A step on several samples: one definition, whoever computes which of them, and when."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.reference.arithmetic import rounded_shift
from hypercast.reference.exponents import AccumulatorError
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.recipe import LOSSES, OPTIMISERS, Recipe
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import EDGES, Kind, Tensor
from tests.reference.random_data import OTHERS, data, labelled, network
from tests.reference.test_fixed_gnn import state

NETWORKS = {"gcn": network(), **OTHERS}


def samples_of(net, recipe, count):
    """Samples of other edges between the same vertices, with one exponent of their weights."""
    _, *others = labelled(data(vertices=24), recipe.loss)
    found = [Sample.of(net, recipe, data(vertices=24, seed=seed)[0], *others)
             for seed in range(count)]
    largest = max(sample.edge_exponent for sample in found)
    return [sample.with_edge_exponent(largest) for sample in found]


def train(gnn, samples, steps=3):
    """Steps on all samples, in their order; returns the metrics of the last."""
    for _ in range(steps):
        gnn.begin_step()
        parts = []
        for sample in samples:
            gnn.take(sample)
            parts.append(gnn.step_sums())
        sums = StepSums.total(parts)
        gnn.update(sums)
    return sums.metrics


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(list(NETWORKS)), st.sampled_from(LOSSES), st.sampled_from(OPTIMISERS),
       st.permutations(range(4)), st.integers(1, 3))
def test_neither_order_nor_place_of_samples_matters(name, loss, optimiser, order, first):
    """Two devices that share the samples of a step and add up their sums stay alike."""
    recipe = Recipe(loss=loss, optimiser=optimiser, micro_batches=4)
    samples = samples_of(NETWORKS[name], recipe, 4)
    model = InitialModel.of(NETWORKS[name], recipe, samples[0])
    alone = FixedGnn(model)
    expected = train(alone, samples)
    shared, devices = [samples[number] for number in order], [FixedGnn(model), FixedGnn(model)]
    for _ in range(3):
        parts = []
        for device, own in zip(devices, (shared[:first], shared[first:]), strict=True):
            device.begin_step()
            for sample in own:
                device.take(sample)
                parts.append(device.step_sums())
        sums = StepSums.total(reversed(parts))
        for device in devices:
            device.update(sums)
    for device in devices:
        assert state(device) == state(alone)
        assert device.exponents.entries() == alone.exponents.entries()
    assert all(map(np.array_equal, sums.metrics, expected))


def test_one_sample_is_the_step_that_there_was():
    net, recipe = NETWORKS["gcn"], Recipe(optimiser="adam")
    [sample] = samples_of(net, recipe, 1)
    pieces, whole = FixedGnn.of(net, recipe, sample), FixedGnn.of(net, recipe, sample)
    for _ in range(3):
        found, expected = train(pieces, [sample], steps=1), whole.train_step()
        assert all(map(np.array_equal, found, expected))
        assert state(pieces) == state(whole)


def test_copies_of_a_sample_are_a_step_on_it():
    """Gradients are four times as large, and so is what they are divided by."""
    net, recipe = network(dropout=0.0), Recipe(learning_rates=(0.1,))
    [sample] = samples_of(net, recipe, 1)
    one = FixedGnn.of(net, recipe, sample)
    four = FixedGnn.of(net, replace(recipe, micro_batches=4), sample)
    train(one, [sample], steps=10)
    train(four, [sample] * 4, steps=10)
    for name, masters in one.masters.items():
        assert abs(masters - four.masters[name]).max() < 1e-4 * abs(masters).max() + 64


def test_samples_of_other_exponents_are_refused():
    net, recipe = NETWORKS["gcn"], Recipe(micro_batches=2)
    one, other = samples_of(net, recipe, 2)
    gnn = FixedGnn.of(net, recipe, one)
    gnn.begin_step()
    first = gnn.step_sums()
    gnn.take(other.with_edge_exponent(other.edge_exponent + 1))
    with pytest.raises(ValueError, match=f"A has exponent {one.edge_exponent} in one sample"):
        first + gnn.step_sums()


def test_a_sum_that_fits_no_accumulator_is_refused():
    net, recipe = NETWORKS["gcn"], Recipe(micro_batches=2)
    gnn = FixedGnn.of(net, recipe, *samples_of(net, recipe, 1))
    before = state(gnn)
    gnn.begin_step()
    sums = gnn.step_sums()
    large = replace(sums, gradients={
        **sums.gradients, Tensor(Kind.BIAS, 2): np.full(3, 1 << 47)})
    with pytest.raises(AccumulatorError, match="gradient of b2 takes more than the 48 bits"):
        gnn.update(large)
    assert {name for name, value in state(gnn).items() if before[name] != value} <= {
        name for name in before if "." not in name}  # no parameter


@given(st.integers(0, 6))
def test_another_exponent_of_edge_weights(more):
    net, recipe = NETWORKS["sage"], Recipe()
    [sample] = samples_of(net, recipe, 1)
    other = sample.with_edge_exponent(sample.edge_exponent + more)
    assert other.root_weight << more == sample.root_weight
    assert other.edges[0] is other.edges[1]
    for mine, coarse in zip(sample.edges, other.edges, strict=True):
        assert np.array_equal(rounded_shift(mine.data, more), coarse.data)
    assert FixedGnn.of(net, recipe, other).exponents[EDGES] == sample.edge_exponent + more
