# SPDX-License-Identifier: BSD-2-Clause
"""Dense and sparse features of the same values are the same training, and the same program."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from hypercast import Device, Graph, Model, Trainer
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.graph_checks import SPARSE_DENSITY
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.training.prepare import prepare_for
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.recipe import Recipe
from tests.host.noted_programs import _CONFIG as CONFIG

VERTICES = 60


def graph_of(density, seed=0, features=40):
    """Features that are no whole numbers, so that sums of them depend on the order of terms."""
    random = np.random.default_rng(seed)
    values = np.where(random.random((VERTICES, features)) < density,
                      random.normal(size=(VERTICES, features)), 0.0)
    values[:, 0] = 0.1
    return Graph.from_edges(random.integers(VERTICES, size=(3 * VERTICES, 2)), values,
                            np.arange(VERTICES) % 3, train=range(0, VERTICES, 2),
                            validation=range(1, VERTICES, 4))


def forms(graph):
    """The graph with dense and with sparse features, which also may be zeros that are stored."""
    features = graph.features
    dense = features.toarray() if scipy.sparse.issparse(features) else features
    sparse = scipy.sparse.csr_array(dense)
    rows, columns = np.nonzero(np.ones_like(dense))
    stored = scipy.sparse.csr_array((dense.ravel(), (rows, columns)), shape=dense.shape)
    assert stored.nnz > sparse.nnz or np.all(dense)
    return [replace(graph, features=one) for one in (dense, sparse, stored)]


def parameters_of(state):
    return {name: {kind: values.tobytes() for kind, values in arrays.items()}
            for name, arrays in state.parameters.items()}


def compiled(graph, model, recipe, dropout):
    """All that a chip is loaded with, and the reference's state after some steps."""
    network = model_network(model, graph.features.shape[1], (6,), graph.classes, dropout=dropout)
    found = prepare_for(CONFIG, graph, network, recipe)
    job = compile_job(found.model, CONFIG, edges=found.edges)
    device = ReferenceDevice(found.model)
    for _ in range(2):
        device.train_step()
    state = device.state()
    return {
        "orders": [layer.order for layer in found.model.network.layers],
        "program": job.program, "entries": job.starts, "row table": job.row_table,
        "regions": sorted(map(str, job.regions.values())),
        "images": [[(name, words.tobytes()) for name, words in image] for image in job.images],
        "exponents": state.exponents, "parameters": parameters_of(state)}


@pytest.mark.parametrize("model, density, dropout, normalise", [
    ("gcn", 0.02, 0.5, True), ("gcn", 0.3, 0.0, True), ("sage", 1.0, 0.5, True)])
def test_bits_and_programs(model, density, dropout, normalise):
    recipe = Recipe(epochs=2, normalisation=MODELS[model].normalisation,
                    normalise_features=normalise, optimiser="adam" if dropout else "sgd")
    dense, *others = (compiled(graph, model, recipe, dropout) for graph in forms(graph_of(density)))
    for other in others:
        assert [name for name in dense if dense[name] != other[name]] == []


def test_normalised_features_are_the_same_numbers():
    for seed in range(5):
        found = [graph.with_normalised_features().features
                 for graph in forms(graph_of(0.7, seed, features=300))]
        dense, *others = (one.toarray() if scipy.sparse.issparse(one) else one for one in found)
        assert all(np.array_equal(dense, other) for other in others)


def test_samples():
    """Neighbours are drawn, and features stay in memory."""
    found = []
    for graph in forms(graph_of(0.1)):
        with Trainer(graph, Model(hidden=(6,), dropout=0.3), Device("reference"), epochs=2,
                     sampling=Sampling(sampler="neighbours", batch=9, fan_outs=(3, 3))) as trainer:
            trainer.fit()
            found.append(parameters_of(trainer.target.state()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("density, sparse", [(0.5 * SPARSE_DENSITY, True), (0.3, False)])
def test_few_values_make_features_sparse(density, sparse):
    assert scipy.sparse.issparse(graph_of(density).features) == sparse
