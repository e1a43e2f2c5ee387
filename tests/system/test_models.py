# SPDX-License-Identifier: BSD-2-Clause
"""GraphSAGE, GIN, GCNII, residual connections and jumping knowledge on the chip, in every word."""


import numpy as np
import pytest
import scipy.sparse

from hypercast.host.graphs.graph import Graph
from hypercast.reference.network import AGGREGATE_FIRST
from tests.system.chips import (
    CHIPS,
    NARROW,
    VARIANTS,
    WIDE,
    ModelTraining,
    random_graph,
    star,
)

each_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())


@pytest.mark.grid
@each_variant
@pytest.mark.parametrize("config", CHIPS.values(), ids=CHIPS.keys())
def test_variants(config, variant):
    graph = random_graph(26, 60, directed=True, features=7, classes=5, isolated=2, seed=5)
    ModelTraining(graph=graph, config=config, variant=variant).check()


@each_variant
def test_deep(variant):
    ModelTraining(graph=random_graph(30, 70, features=9, seed=6), config=WIDE, variant=variant,
                  hidden=(7, 7, 7), epochs=3).check()


@each_variant
def test_aggregate_first(variant):
    """Convolutions whose own rows are not added sum over neighbours before they multiply."""
    training = ModelTraining(
        graph=random_graph(26, 60, directed=True, features=7, classes=5, seed=7), config=WIDE,
        variant=variant, dropout=0.0, order=AGGREGATE_FIRST)
    orders = {layer.order for layer in training.model().network.layers}
    assert (AGGREGATE_FIRST in orders) == (variant[0] not in ("sage", "gcnii"))
    training.check()


@each_variant
def test_several_destination_strips(variant):
    graph = random_graph(70, 150, directed=True, seed=6)
    assert -(-graph.vertices // WIDE.cores) > WIDE.accumulator_rows
    ModelTraining(graph=graph, config=WIDE, variant=variant, hidden=(4, 4)).check()


def test_a_loss_gradient_of_one_panel_and_several_strips():
    """What multiplies with it waits for all of its rows."""
    training = ModelTraining(graph=random_graph(100, 250, directed=True, seed=6), config=WIDE,
                             variant=("gcn", {}), dropout=0.0, order=AGGREGATE_FIRST)
    assert training.graph.classes <= WIDE.lanes
    training.check()


@each_variant
def test_chosen_orders(variant):
    ModelTraining(graph=random_graph(60, 200, features=4, seed=11), config=WIDE, variant=variant,
                  dropout=0.0, order=None).check()


@pytest.mark.grid
@each_variant
@pytest.mark.parametrize("graph", [
    random_graph(1, 0, classes=1), random_graph(3, 4), random_graph(9, 0), star(30)],
    ids=["one vertex", "fewer vertices than cores", "no edges", "star"])
def test_graphs(graph, variant):
    ModelTraining(graph=graph, config=WIDE, variant=variant).check()


@each_variant
def test_sparse_features(variant):
    """Both weights of a first layer take them without their zero words, gradients in chunks."""
    values = scipy.sparse.random_array((30, 64), density=0.03, rng=np.random.default_rng(3))
    graph = Graph.from_edges(np.random.default_rng(4).integers(0, 30, (60, 2)), values,
                             np.arange(30) % 3, train=range(0, 30, 2))
    training = ModelTraining(graph=graph, config=NARROW, variant=variant)
    assert not training.job.regions["X"].columns
    training.check()


def test_more_layers_than_eight_bits_name_entries_of():
    config = WIDE.replace(tensors=512, program_rows=8192, channel_words=1 << 14)
    training = ModelTraining(graph=random_graph(12, 20, features=4, seed=3), config=config,
                             variant=("gcnii", {}), hidden=(4,) * 32, epochs=2)
    assert len(training.job.tensors) > 256
    training.check()
