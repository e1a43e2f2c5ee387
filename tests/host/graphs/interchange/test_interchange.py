"""Graphs of other libraries: stand-ins with their attributes, and the real ones if installed."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.graphs.datasets import random_split
from hypercast.host.graphs.graph import Graph, GraphError
from hypercast.host.graphs.interchange.tensors import as_array
from hypercast.rtl.isa import Split

#: Edges that lead from 0 to 1, 1 to 2 and back, 3 to 0.
EDGES = np.array([[0, 1, 2, 3], [1, 2, 1, 0]])
#: Entry (i, j): the edge from j to i.
ADJACENCY = [[0, 0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
FEATURES = np.arange(8.0, dtype=np.float32).reshape(4, 2)
LABELS = np.array([0, 1, 2, -1])
MASKS = {"train_mask": np.array([1, 0, 0, 0], bool), "val_mask": np.array([0, 1, 0, 0], bool),
         "test_mask": np.array([0, 0, 1, 0], bool)}
SPLITS = [Split.TRAIN, Split.VALIDATION, Split.TEST, Split.NONE]


class Tensor:
    """A dense tensor: an array only after ``detach``, ``cpu`` and ``numpy``."""

    def __init__(self, values):
        self._values = np.asarray(values)
        self._steps = ["detach", "cpu", "numpy"]

    def __array__(self, *args, **kwargs):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    def __getattr__(self, name):
        if name not in ("detach", "cpu", "numpy"):
            raise AttributeError(name)

        def step():
            assert self._steps.pop(0) == name
            return self if self._steps else self._values
        return step


class SparseTensor:
    """What torch_sparse calls so."""

    def __init__(self, matrix):
        self._matrix = matrix

    def to_scipy(self, layout):
        assert layout == "csr"
        return scipy.sparse.csr_matrix(self._matrix)


class CooTensor:
    """A sparse tensor of PyTorch, with an entry in two parts."""

    is_sparse = True
    shape = (4, 2)

    def coalesce(self):
        rows, columns = np.nonzero(FEATURES)
        return SimpleNamespace(is_sparse=True, shape=self.shape,
                               indices=lambda: Tensor([rows, columns]),
                               values=lambda: Tensor(FEATURES[rows, columns]))


class CsrTensor:
    """A sparse tensor of PyTorch with another layout."""

    is_sparse_csr = True

    def to_sparse_coo(self):
        return SimpleNamespace(is_sparse=True, coalesce=CooTensor().coalesce)


def data(**changes):
    """A stand-in for ``torch_geometric.data.Data``, on a GPU; all it does not have is None."""
    values = {"x": FEATURES, "y": LABELS, "edge_index": EDGES, **MASKS, **changes}
    return SimpleNamespace(**{
        name: Tensor(value) if isinstance(value, np.ndarray) else value
        for name, value in values.items() if value is not None})


def dgl_graph(**changes):
    """A stand-in for ``dgl.DGLGraph``."""
    def edges(order):
        assert order == "eid"
        return Tensor(EDGES[0]), Tensor(EDGES[1])

    ndata = {"feat": FEATURES, "label": LABELS, **MASKS}
    return SimpleNamespace(**{
        "is_homogeneous": True, "edges": edges, "edata": {"w": Tensor([[4.0], [3], [2], [1]])},
        "ndata": {name: Tensor(values) for name, values in ndata.items()}, **changes})


def check(graph):
    assert graph.edges.todense().tolist() == ADJACENCY
    features = graph.features
    assert (features.todense() if scipy.sparse.issparse(features) else features).tolist() \
        == FEATURES.tolist()
    assert graph.labels.tolist() == LABELS.tolist()
    assert graph.splits.tolist() == SPLITS


# --- Tensors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tensor", [CooTensor(), CsrTensor(), SparseTensor(FEATURES),
                                    scipy.sparse.coo_matrix(FEATURES)])
def test_sparse_tensors_stay_sparse(tensor):
    found = as_array(tensor)
    assert isinstance(found, scipy.sparse.csr_array)
    assert found.todense().tolist() == FEATURES.tolist()


# --- PyTorch Geometric --------------------------------------------------------------------------


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


# --- DGL ----------------------------------------------------------------------------------------


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
