# SPDX-License-Identifier: BSD-2-Clause
"""Input features stored without their zero words: the same bits, whatever is zero."""

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.graphs.graph import Graph
from hypercast.rtl.isa import OperandSource, decode
from tests.system.chips import CHIPS, NARROW, ONE_CORE, WIDE, GraphTraining, ModelTraining

FEATURES = 40


def sparse_graph(vertices, values, *, classes=3, seed=0):
    """A random graph with the given features."""
    generator = np.random.default_rng(seed)
    edges = generator.integers(0, vertices, (2 * vertices, 2))
    return Graph.from_edges(edges, values, np.arange(vertices) % classes,
                            train=range(0, vertices, 2))


def draw(vertices, density, *, features=FEATURES, seed=0):
    """Sparse features, at least one of them not zero."""
    generator = np.random.default_rng(seed)
    values = scipy.sparse.random_array(
        (vertices, features), density=density, rng=generator, data_sampler=generator.normal)
    values = values.tolil()
    values[0, 0] = 1.0
    return values.tocsr()


def check(graph, config, *, sparse=True, **network):
    """Trains on chip and reference; with ``sparse`` the chip's features must be word-sparse."""
    training = GraphTraining(graph=graph, config=config, hidden=(5,), **network,
                             recipe={"weight_decays": (0.0,)})
    job = training.job
    assert not (sparse and job.regions["X"].columns)
    training.check()


@pytest.mark.grid
@pytest.mark.parametrize("density", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("config", CHIPS.values(), ids=CHIPS.keys())
def test_densities(config, density):
    """As many rows as may be word-sparse, and panels that are zero in all rows."""
    vertices = config.cores * config.accumulator_rows
    check(sparse_graph(vertices, draw(vertices, density)), config, dropout=0.5)


@pytest.mark.parametrize("config", [NARROW, WIDE], ids=["narrow", "wide"])
def test_no_dropout(config):
    check(sparse_graph(30, draw(30, 0.05, seed=1)), config)


@pytest.mark.parametrize("vertices", [13, 31])
def test_cores_with_a_row_less(vertices):
    for config in (NARROW, WIDE):
        check(sparse_graph(vertices, draw(vertices, 0.05, seed=2)), config, sparse=vertices > 3,
              dropout=0.3)


def test_all_words_of_one_row():
    """One vertex with all features, all others with none."""
    values = np.zeros((50, FEATURES))
    values[7] = np.arange(1.0, FEATURES + 1)
    check(sparse_graph(50, values, seed=3), WIDE, dropout=0.5)


def test_reductions_in_chunks():
    """Gradients in three chunks, each with an index of its own."""
    check(sparse_graph(30, draw(30, 0.05, features=75, seed=4)), NARROW, dropout=0.5)


@pytest.mark.grid
@pytest.mark.parametrize("classes", [2, 12])
@pytest.mark.parametrize("model", ["gcn", "sage"])
def test_more_words_than_the_operand_buffer_holds(model, classes):
    """Products read all panels at once, gradients in pieces, of which some end within a word of
    their index.
    """
    graph = sparse_graph(60, draw(60, 0.05, features=408, seed=5),
                         classes=classes)
    training = ModelTraining(graph=graph, config=ONE_CORE, variant=(model, {}), hidden=(5,))
    job = training.job
    assert not job.regions["X"].columns
    assert all(decode(word).get("operand") == OperandSource.MEMORY
               for word in job.program if decode(word).get("sparse"))
    training.check()
