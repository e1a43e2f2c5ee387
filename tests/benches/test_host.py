# SPDX-License-Identifier: BSD-2-Clause
"""The host's bench on a small scale: all its lines, with and without PyTorch Geometric."""

from types import SimpleNamespace

import pytest

from hypercast.benches import host
from hypercast.rtl.config import PRESETS


@pytest.fixture
def small(monkeypatch):
    """Few vertices and small batches, and a step of a millisecond."""
    for name, value in {"_VERTICES": 2_000, "_EDGES": 20_000, "_WIDTHS": (24, 16, 5),
                        "_TARGETS": 100, "_FAN_OUTS": (3, 4), "_NODES": 100, "_ENDS": 50,
                        "_ROOTS": 40, "_COVERAGE": 2, "_SECONDS": 0.0, "_BATCHES": 3, "_THREADS": 2,
                        "_CONFIG": PRESETS["test"]}.items():
        monkeypatch.setattr(host, name, value)
    monkeypatch.setattr(host, "predict", lambda workload: SimpleNamespace(cycles=250_000))


def values(figures):
    found = {(figure.name, figure.unit): figure.value for figure in figures}
    assert len(found) == len(figures)
    return found


def test_figures(small, monkeypatch):
    monkeypatch.setattr(host, "_loader", lambda graph, targets: None)
    found = values(host.run(None, progress=lambda text: None))
    assert found["graph: vertices", ""] == 2_000
    assert found["PyTorch Geometric's NeighborLoader: installed, with pyg-lib or torch-sparse",
                 ""] == 0
    assert found["neighbour sampling, 1 thread / SciPy", "x"] > 0
    for title in ("neighbour sampling", *(
            f"GraphSAINT {kind} sampling" for kind in ("node", "edge", "random-walk"))):
        assert found[f"{title}: vertices of the input", ""] > 40
        assert found[f"{title}: edges and loops looked at", ""] > 40
        assert found[f"{title}: all of it, 2 threads", "ms/batch"] > 0
        busy = found[f"{title}: all of it, processor time of 2 threads", "ms/batch"]
        assert found[f"{title}: modelled step of vcu128, 24-16-5", "ms/batch"] == 1
        assert found[f"{title}: threads for which the device would not wait", "threads"
                     ] == pytest.approx(busy)


def test_ratio(small, monkeypatch):
    """One sampler takes no time to speak of, and the other takes a while."""
    def slowly():
        while True:
            yield sum(range(300_000))

    monkeypatch.setattr(host, "_loader", lambda graph, targets: slowly())
    sampler = SimpleNamespace(batch=lambda epoch, number: None)
    monkeypatch.setattr(host, "_scipy_batches", lambda matrix, targets: None)
    found = values(host._others(None, None, None, sampler, lambda text: None))
    assert found["neighbour sampling, 1 thread / NeighborLoader", "x"] > 10


def test_real_loader(small):
    """It samples the graph it is given, if it is installed."""
    graph = host._graph()
    loader = host._loader(graph, host.np.arange(0, 2_000, 2))
    if loader is None:
        pytest.skip("no PyTorch Geometric that can sample")
    batch = next(iter(loader))
    edges = graph.edges.todense()
    sources, targets = batch.n_id[batch.edge_index].numpy()
    assert batch.batch_size == 100 and edges[targets, sources].all()


def test_scipy_sampler(small):
    """It samples the graph it is given, so many neighbours at most."""
    matrix = host._graph().normalise("mean")
    batch = next(host._scipy_batches(matrix, host.np.arange(0, 2_000, 2)))
    assert [layer.shape[0] for layer in batch] == [100, batch[0].shape[1]]
    for layer, fan_out in zip(batch, (3, 4), strict=True):
        assert 0 < host.np.diff(layer.indptr).max() <= fan_out
