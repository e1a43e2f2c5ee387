# SPDX-License-Identifier: BSD-2-Clause
"""Epochs of sampled trainings: how long they take, and the graph that they are measured on."""

import numpy as np
import pytest

from hypercast.benches.epochs import community_graph, epoch_figures
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling


@pytest.fixture(scope="module")
def graph():
    return community_graph(600, classes=4, degree=12.0, same=0.8, noise=0.2)


def test_an_epoch_is_its_steps_and_an_evaluation(graph):
    said = []
    figures = epoch_figures(
        "g", graph, Model(hidden=(8,)),
        Sampling(sampler="neighbours", batch=15, fan_outs=(3, 5)), epochs=12,
        progress=said.append, optimiser="adam", learning_rate=0.02, bias_learning_rate=0.02,
        weight_decay=0.0)
    found = {figure.name.removeprefix("g: "): figure.value for figure in figures}
    assert len(found) == len(figures)
    assert found["samples of an epoch"] == 4
    assert 15 < found["vertices of a sample's input, mean"] <= 15 * 4 * 6
    assert found["test accuracy at the best validated epoch"] > 60
    assert found["an epoch on the reference"] == pytest.approx(
        found["of it, training steps, samples drawn beside them"]
        + found["of it, evaluation of the whole graph"])
    assert said[0] == "g, epoch 1 of 12"


def test_edges_prefer_the_own_class(graph):
    edges = graph.edges.tocoo()
    labels = graph.labels
    apart = edges.row != edges.col
    share = np.mean(labels[edges.row[apart]] == labels[edges.col[apart]])
    assert share == pytest.approx(0.8 + 0.2 / 4, abs=0.05)
    assert apart.sum() / 600 == pytest.approx(12, rel=0.1)


def test_features_tell_the_class(graph):
    features = np.asarray(graph.features.todense()) if hasattr(graph.features, "todense") \
        else np.asarray(graph.features)
    own = np.arange(64) % 4 == graph.labels[:, None]
    assert features[own].mean() == pytest.approx(0.4, abs=0.03)
    assert features[~own].mean() == pytest.approx(0.2, abs=0.02)
