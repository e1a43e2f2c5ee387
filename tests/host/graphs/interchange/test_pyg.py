# SPDX-License-Identifier: BSD-2-Clause
"""Graphs of PyTorch Geometric: stand-ins with its attributes, and the real ones if installed."""

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.graphs.datasets import random_split
from hypercast.host.graphs.graph import Graph, GraphError
from hypercast.rtl.isa import Split
from tests.host.graphs.interchange.stand_ins import (
    ADJACENCY,
    EDGES,
    FEATURES,
    LABELS,
    MASKS,
    CooTensor,
    SparseTensor,
    check,
    data,
)


def test_pyg():
    check(Graph.from_pyg(data()))


def test_pyg_adjacency():
    check(Graph.from_pyg(data(edge_index=None, adj_t=SparseTensor(ADJACENCY))))


def test_pyg_sparse_features_and_a_column_of_labels():
    check(Graph.from_pyg(data(x=CooTensor(), y=LABELS[:, None])))


def test_pyg_several_splits_in_columns():
    masks = {name: np.stack([mask, ~mask], axis=1) for name, mask in MASKS.items()}
    check(Graph.from_pyg(data(**masks)))


def test_pyg_multi_label():
    graph = Graph.from_pyg(data(y=np.array([[0, 1], [1, 1], [0, 0], [1, 0]], np.float32)))
    assert graph.multi_label and graph.classes == 2


def test_pyg_weights():
    weights = np.array([[1.0], [2], [3], [4]])
    graph = Graph.from_pyg(data(edge_weight=weights), weight="edge_weight")
    assert graph.edges[1, 0] == 1 and graph.edges[0, 3] == 4


def test_pyg_parts_instead_of_masks():
    parts = random_split(LABELS, train=1.0, validation=0.0)
    graph = Graph.from_pyg(data(train_mask=None), parts=parts)
    assert graph.splits.tolist() == [Split.TRAIN] * 3 + [Split.NONE]


@pytest.mark.parametrize(("changes", "message"), [
    ({"x": None}, "has no x; a homogeneous one"),
    ({"y": None}, "has no y;"),
    ({"edge_index": None}, "has no adj_t;"),
    ({"train_mask": None}, "has no train_mask; give parts=random_split"),
])
def test_pyg_refusals(changes, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_pyg(data(**changes))


def test_real_pyg():
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric.data")
    real = pyg.Data(x=torch.tensor(FEATURES), y=torch.tensor(LABELS),
                    edge_index=torch.tensor(EDGES),
                    **{name: torch.tensor(mask) for name, mask in MASKS.items()})
    check(Graph.from_pyg(real))
    real.x = real.x.to_sparse()
    check(Graph.from_pyg(real))
    real.x = real.x.to_sparse_csr()
    check(Graph.from_pyg(real))


@pytest.mark.parametrize("name", ["bfloat16", "half", "double"])
def test_real_pyg_of_narrow_types(name):
    """In every tensor that a Data can have."""
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric.data")
    kind = getattr(torch, name)
    real = pyg.Data(x=torch.tensor(FEATURES).to(kind), y=torch.tensor(LABELS).to(kind),
                    edge_index=torch.tensor(EDGES), edge_weight=torch.ones(4, dtype=kind),
                    **{name: torch.tensor(mask).to(kind) for name, mask in MASKS.items()})
    check(Graph.from_pyg(real, weight="edge_weight"))
    real.edge_index = real.edge_index.to(kind)
    with pytest.raises(GraphError, match=r"edges must be pairs of vertex numbers.*type float"):
        Graph.from_pyg(real)
    real.edge_index, real.adj_t = None, torch.tensor(ADJACENCY).to(kind).to_sparse()
    check(Graph.from_pyg(real))


@pytest.mark.parametrize("shape", [(2, 2), (2, 2, 1), (4, 4)])
def test_weights_that_are_no_number_per_edge(shape):
    with pytest.raises(GraphError, match=r"edge_attr has shape .*; give one number per edge"):
        Graph.from_pyg(data(edge_attr=np.ones(shape)), weight="edge_attr")


def test_sparse_labels():
    labels = np.eye(3)[[0, 1, 2, 0]]
    found = Graph.from_pyg(data(y=scipy.sparse.csr_array(labels)))
    assert np.array_equal(found.labels, labels)
