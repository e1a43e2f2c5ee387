# SPDX-License-Identifier: BSD-2-Clause
"""Samples that leave nothing out train as the whole graph does."""

import numpy as np
import pytest

from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.graphs.sampling.samples import SampleMaker
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.float_gnn import FloatGnn
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import LINEAR
from hypercast.reference.recipe import Recipe
from hypercast.rtl.isa import LOSS_WEIGHT_ONE, Split
from tests.system.chips import random_graph


@pytest.mark.parametrize("name", ["gcn", "sage", "gin"])
def test_all_neighbours_give_the_gradient_of_the_graph(name):
    """Against float64 on all vertices, of which the targets are trained on."""
    graph = random_graph(60, 150, features=7, classes=4, isolated=2, seed=8)
    matrix = graph.normalise(MODELS[name].normalisation)
    network = model_network(name, 7, (6,), 4)
    # With this seed, no hidden sum is so near zero that rounding changes its sign.
    recipe = Recipe(normalisation=MODELS[name].normalisation, weight_decays=(0.0,), seed=1)
    targets = np.flatnonzero(graph.splits == Split.TRAIN)
    layers = sum(layer.order != LINEAR for layer in network.layers)
    sampler = NeighbourSampler(matrix, targets, (60,) * layers, batch_size=len(targets))
    batch = sampler.batch(0, 0)
    assert len(batch.inputs) > len(batch.levels[1]) > len(targets)
    sample = SampleMaker(network, recipe, graph, sampler)(batch)
    assert sample.rows[-1] == len(targets)
    fixed = FixedGnn.of(network, recipe, sample)
    real = FloatGnn(network, recipe, matrix, graph.features, graph.labels,
                    np.where(graph.splits == Split.TRAIN, Split.TRAIN, Split.NONE))
    before = dict(real.parameters)
    fixed.train_step()
    real.train_step()
    for parameter, values in real.parameters.items():
        # Tensors are rounded to 2**-15 of their largest element.
        change = np.abs(values - before[parameter]).max()
        found = fixed.masters[parameter] * 2.0**-26
        np.testing.assert_allclose(found, values, atol=2e-3 * change, err_msg=parameter)


def samples_of_an_epoch():
    """A graph, a sampler of it, and all samples of its first epoch."""
    graph = random_graph(60, 150, features=7, classes=4, seed=8)
    network = model_network("gcn", 7, (6,), 4)
    sampler = NeighbourSampler(graph.normalise("symmetric"), np.arange(60), (3, 3), batch_size=7)
    make = SampleMaker(network, Recipe(), graph, sampler)
    samples = [make(sampler.batch(0, number)) for number in range(len(sampler))]
    return graph, sampler, samples


def test_features_are_rounded_alike_in_all_samples():
    graph, sampler, samples = samples_of_an_epoch()
    assert len({sample.features.exponent for sample in samples}) == 1
    batch = sampler.batch(0, 0)
    np.testing.assert_allclose(
        samples[0].features.values * 2.0**samples[0].features.exponent,
        graph.features[batch.inputs], atol=2.0**(samples[0].features.exponent - 1))
    np.testing.assert_array_equal(samples[0].labels, graph.labels[batch.targets])


def test_weights_make_up_for_the_size_of_a_batch():
    """The last batch has 4 vertices, but its loss counts as much as that of 7."""
    _, _, samples = samples_of_an_epoch()
    assert len(samples[-1].labels) == 4
    assert len({sample.loss_unit for sample in samples}) == 1
    for sample in samples:
        weights = sample.loss_weights * sample.loss_unit / LOSS_WEIGHT_ONE
        np.testing.assert_allclose(weights, 7 / len(sample.labels), rtol=2.0**-15)
