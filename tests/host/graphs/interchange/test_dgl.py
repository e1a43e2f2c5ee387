# SPDX-License-Identifier: BSD-2-Clause
"""Graphs of DGL: stand-ins with its attributes, and the real ones if installed."""

from types import SimpleNamespace

import numpy as np
import pytest

from hypercast.host.graphs.graph import Graph, GraphError
from hypercast.rtl.isa import Split
from tests.host.graphs.interchange.stand_ins import EDGES, FEATURES, LABELS, MASKS, Tensor, check


def dgl_graph(**changes):
    """A stand-in for ``dgl.DGLGraph``."""
    def edges(order):
        assert order == "eid"
        return Tensor(EDGES[0]), Tensor(EDGES[1])

    ndata = {"feat": FEATURES, "label": LABELS, **MASKS}
    return SimpleNamespace(**{
        "is_homogeneous": True, "edges": edges, "edata": {"w": Tensor([[4.0], [3], [2], [1]])},
        "ndata": {name: Tensor(values) for name, values in ndata.items()}, **changes})


def test_dgl():
    check(Graph.from_dgl(dgl_graph()))


def test_dgl_weights():
    assert Graph.from_dgl(dgl_graph(), weight="w").edges.tocoo().data.tolist() == [1, 4, 2, 3]


@pytest.mark.parametrize(("arguments", "message"), [
    ({"features": "x"}, "vertices have no 'x' but 'feat', 'label', 'train_mask'"),
    ({"labels": "y"}, "vertices have no 'y'"),
    ({"weight": "norm"}, "edges have no 'norm' but 'w'; name what to take"),
])
def test_dgl_names(arguments, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_dgl(dgl_graph(), **arguments)


def test_dgl_heterogeneous():
    graph = dgl_graph(is_homogeneous=False, ntypes=["user", "item"], etypes=["buys"])
    with pytest.raises(GraphError, match="2 types of vertices and 1 of edges; make it one by"):
        Graph.from_dgl(graph)


def test_real_dgl():
    try:
        import dgl
        import torch
    except Exception as error:  # it does not come up with every PyTorch
        pytest.skip(f"no DGL: {error}")
    real = dgl.graph((torch.tensor(EDGES[0]), torch.tensor(EDGES[1])), num_nodes=4)
    values = {"feat": FEATURES, "label": LABELS, **MASKS}
    real.ndata.update({name: torch.tensor(value) for name, value in values.items()})
    check(Graph.from_dgl(real))


@pytest.mark.parametrize("shape", [(4,), (4, 1), (1, 4)])
def test_weights_may_be_a_column(shape):
    weights = np.array([4.0, 3, 2, 1])
    graph = Graph.from_dgl(dgl_graph(edata={"w": Tensor(weights.reshape(shape))}), weight="w")
    for (source, target), weight in zip(EDGES.T, weights, strict=True):
        assert graph.edges[target, source] == weight


def test_parts_instead_of_masks():
    graph = Graph.from_dgl(dgl_graph(), parts={"train": [2], "test": [0, 1]})
    assert graph.splits.tolist() == [Split.TEST, Split.TEST, Split.TRAIN, Split.NONE]
