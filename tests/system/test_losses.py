# SPDX-License-Identifier: BSD-2-Clause
"""Losses of the whole chip: several labels per vertex, and loss weights, equal in every word."""

from dataclasses import replace

import numpy as np
import pytest

from hypercast.benches.trainings import compare_training
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import open_device
from tests.system.chips import NARROW, SLOW_MEMORY, WIDE, GraphTraining, random_graph

_CHIPS = pytest.mark.parametrize(
    "config", [NARROW, WIDE, SLOW_MEMORY], ids=["narrow", "wide", "slow memory"])
_RATES = {"learning_rates": (1.0,), "bias_learning_rates": (1.0,), "weight_decays": (5e-4,)}


def _weights(vertices):
    """Loss weights from zero on, none of them a power of two."""
    return np.random.default_rng(1).uniform(0, 5, vertices) * (np.arange(vertices) % 7 > 0)


@pytest.mark.grid
@_CHIPS
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("classes", [1, 5, pytest.param(40, marks=pytest.mark.slow)])
def test_several_labels(config, classes, weighted):
    graph = Graph(**communities(vertices=70, classes=classes, features=9, degree=5.0))
    GraphTraining(graph=graph, config=config, hidden=(6,), dropout=0.3, epochs=3, recipe=_RATES,
                  loss_weights=_weights(70) if weighted else None).check()


@pytest.mark.grid
@_CHIPS
@pytest.mark.parametrize("classes", [3, 19])
def test_loss_weights(config, classes):
    graph = random_graph(70, 150, classes=classes, seed=12)
    GraphTraining(graph=graph, config=config, hidden=(6,), dropout=0.3, epochs=3,
                  loss_weights=_weights(70)).check()


def test_metrics_and_logits():
    """Losses in nats, F1 and what is predicted are the reference's, too."""
    training = GraphTraining(graph=Graph(**communities(vertices=60, classes=5)), config=WIDE,
                             hidden=(4,), recipe=_RATES, loss_weights=_weights(60))
    reference, chip = (open_device(name, training.model(), WIDE) for name in ("reference", "rtl"))
    try:
        for device in (reference, chip):
            device.train_step()
        expected, found = reference.evaluate(), chip.evaluate()
        assert all(map(np.array_equal, expected, found))
        assert np.array_equal(reference.logits()[0], chip.logits()[0])
        predicted, labels = chip.logits()[0] > 0, reference.oracle.sample.labels
        hits = [np.count_nonzero((predicted & labels)[reference.oracle.sample.splits == split])
                for split in range(1, 4)]
        assert found.correct[1:].tolist() == hits and found.wrong[1:].all()
    finally:
        chip.close()


def test_comparison_sees_a_wrong_label():
    """A label that only the chip knows makes other words."""
    training = GraphTraining(graph=Graph(**communities(vertices=40, classes=5)), config=WIDE,
                             recipe=_RATES)
    labels = training.graph.labels.copy()
    vertex = int(np.flatnonzero(training.graph.splits == 1)[0])
    labels[vertex, 3] ^= True
    other = replace(training, graph=replace(training.graph, labels=labels))
    words, _, _ = compare_training(
        training, lambda model: open_device("rtl", other.model(), WIDE))
    assert words.equal < words.words
