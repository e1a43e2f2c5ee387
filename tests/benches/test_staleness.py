# SPDX-License-Identifier: BSD-2-Clause
"""The generated graph tells exact training from stale halos, where weights move far."""

import numpy as np
import pytest

from hypercast.benches import staleness
from hypercast.benches.stale_graph import stale_graph
from hypercast.benches.staleness import SCHEMES, accuracy
from hypercast.host.description.model import Model

GRAPH = stale_graph(vertices=700, degree=30.0)


@pytest.mark.slow
def test_old_rows_cost_accuracy_where_weights_move_far():
    small = {"model": Model(hidden=(32,), dropout=0.0, order="combine_first"), "epochs": 24,
             "rate": 0.01}
    exact, stale = (np.array([accuracy(GRAPH, SCHEMES[name], seed=seed, **small)
                              for seed in range(6)]) for name in ("exact", "stale halos"))
    lost = exact - stale
    assert lost.mean() > 3 * lost.std(ddof=1) / np.sqrt(len(lost)), lost


def test_the_graph_is_dense_and_its_neighbours_are_of_all_classes():
    sources, targets = GRAPH.edges.tocoo().coords
    same = np.mean(GRAPH.labels[sources] == GRAPH.labels[targets])
    assert 20 < GRAPH.edges.nnz / GRAPH.vertices < 40
    assert 1.3 / GRAPH.classes < same < 0.6
    assert np.array_equal(stale_graph(vertices=50, degree=4.0).labels,
                          stale_graph(vertices=50, degree=4.0).labels)


def test_processes_train_as_this_one_does(monkeypatch):
    monkeypatch.setattr(staleness, "SCHEMES", {"exact": {}})
    monkeypatch.setattr(staleness, "_SEEDS", 2)
    graph, said = stale_graph(vertices=60, degree=8.0), []
    found = staleness.accuracies(graph, 0.01, 2, said.append)
    assert found == {"exact": [accuracy(graph, {}, rate=0.01, epochs=2, seed=seed)
                               for seed in (0, 1)]}
    assert said == ["seed 0, exact", "seed 1, exact"]


def test_figures_name_scheme_and_rate(monkeypatch):
    monkeypatch.setattr(staleness, "accuracies", lambda *more: {
        name: [60.0 if name == "exact" else 40.0] for name in SCHEMES})
    monkeypatch.delenv("HYPERCAST_FACEBOOK", raising=False)
    figures = staleness.run(None, lambda text: None)
    assert len(figures) == 2 * 2 * len(SCHEMES) + 1
    assert [figure.value for figure in figures if figure.bar] == [20.0]


@pytest.mark.parametrize("name", SCHEMES)
def test_each_scheme_trains(name):
    graph = stale_graph(vertices=700, degree=8.0)
    assert 0 < accuracy(graph, SCHEMES[name], rate=0.01, epochs=3, seed=0) <= 100
