# SPDX-License-Identifier: BSD-2-Clause
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

    layout = "torch.sparse_coo"
    shape = (4, 2)

    def detach(self):
        return self

    def sparse_dim(self):
        return 2

    def coalesce(self):
        rows, columns = np.nonzero(FEATURES)
        return SimpleNamespace(shape=self.shape, indices=lambda: Tensor([rows, columns]).detach(),
                               values=lambda: Tensor(FEATURES[rows, columns]).detach())


class BlockTensor:
    """A sparse tensor of PyTorch with another layout."""

    layout = "torch.sparse_bsr"

    def detach(self):
        return self

    def to_sparse_coo(self):
        return CooTensor()


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


@pytest.mark.parametrize("tensor", [CooTensor(), BlockTensor(), SparseTensor(FEATURES),
                                    scipy.sparse.coo_matrix(FEATURES)])
def test_sparse_tensors_stay_sparse(tensor):
    found = as_array(tensor, "x")
    assert isinstance(found, scipy.sparse.csr_array)
    assert found.todense().tolist() == FEATURES.tolist()


class Elements(Tensor):
    """A dense tensor of a type that NumPy may lack."""

    def __init__(self, values, dtype, lacking=True):
        super().__init__(values)
        self.dtype, self._lacking = dtype, lacking
        self.layout, self.shape = "torch.strided", self._values.shape

    def numpy(self):
        if self._lacking:
            raise TypeError(f"Got unsupported ScalarType {self.dtype}")
        return self._values

    def detach(self):
        return self

    cpu = detach

    def float(self):
        return Elements(self._values.astype(np.float32), "float32", lacking=False)


def test_elements_of_types_that_numpy_lacks():
    wide = SimpleNamespace(is_floating_point=True)
    found = as_array(Elements(FEATURES, wide), "x")
    assert found.dtype == np.float32 and found.tolist() == FEATURES.tolist()
    with pytest.raises(GraphError, match=r"y is of type .*, which NumPy lacks \(Got unsupported "
                                         r"ScalarType .*give y as float32 or int64"):
        as_array(Elements(LABELS, SimpleNamespace(is_floating_point=False)), "y")


def codes(torch, dtype):
    """A tensor of each bit pattern of a type of 8 or 16 bits."""
    bits = torch.iinfo(torch.uint8 if dtype.itemsize == 1 else torch.uint16).max + 1
    kind = np.uint8 if dtype.itemsize == 1 else np.uint16
    return torch.from_numpy(np.arange(bits).astype(kind)).view(dtype)


#: Type to bits of exponent and mantissa, the exponent's bias, and whether a zero has a sign and the
#: largest exponent is of infinities.
FLOATS = {"bfloat16": (8, 7, 127, True), "float8_e5m2": (5, 2, 15, True),
          "float8_e4m3fn": (4, 3, 7, False), "float8_e4m3fnuz": (4, 3, 8, False),
          "float8_e5m2fnuz": (5, 2, 16, False)}


@pytest.mark.parametrize("name", FLOATS)
def test_every_value_of_narrow_floats_is_kept(name):
    torch = pytest.importorskip("torch")
    exponents, mantissas, bias, ieee = FLOATS[name]
    tensor = codes(torch, getattr(torch, name))
    pattern = np.arange(len(tensor))
    exponent = pattern >> mantissas & (1 << exponents) - 1
    mantissa = pattern & (1 << mantissas) - 1
    expected = np.ldexp((mantissa + ((exponent > 0) << mantissas)).astype(float),
                        np.maximum(exponent, 1) - bias - mantissas)
    expected *= np.where(pattern >> mantissas + exponents, -1, 1)
    if ieee:
        expected[exponent == (1 << exponents) - 1] = np.nan
    found = as_array(tensor, "x").astype(float)
    known = np.isfinite(found)
    assert np.array_equal(found[known], expected[known]) and known.mean() > 0.8
    if ieee:
        assert np.array_equal(known, np.isfinite(expected))


def test_every_scale_of_8_bits_is_kept():
    torch = pytest.importorskip("torch")
    found = as_array(codes(torch, torch.float8_e8m0fnu), "x")
    assert np.array_equal(found[:255], np.ldexp(1.0, np.arange(255) - 127))


@pytest.mark.parametrize("name", [
    "bfloat16", "half", "float8_e4m3fn", "double", "bool", "uint8", "uint16", "uint32", "uint64",
    "int8", "int32"])
@pytest.mark.parametrize("form", ["dense", "grad", "negative", "coo", "csr", "csc", "bsr", "bsc",
                                  "mkldnn", "hybrid", "strided"])
def test_real_tensors(name, form):
    torch = pytest.importorskip("torch")
    values = np.array([[0, 1, 0, 3], [2, 0, 0, 0]])
    dense = torch.tensor(values).to(getattr(torch, name))
    forms = {
        "dense": lambda: dense, "grad": lambda: dense.requires_grad_(),
        "negative": lambda: torch.complex(torch.zeros(values.shape), -dense.float()).conj().imag,
        "coo": dense.to_sparse, "csr": dense.to_sparse_csr, "csc": dense.to_sparse_csc,
        "bsr": lambda: dense.to_sparse_bsr((1, 2)), "bsc": lambda: dense.to_sparse_bsc((1, 2)),
        "mkldnn": dense.to_mkldnn, "hybrid": lambda: dense.to_sparse(1),
        "strided": lambda: dense.T.contiguous().T}
    try:
        tensor = forms[form]()
    except (RuntimeError, NotImplementedError):
        pytest.skip(f"PyTorch has no such tensor of {name}")
    expected = as_array(dense.detach(), "x").tolist()
    assert expected == ((values != 0) if name == "bool" else values).astype(float).tolist()
    try:
        found = as_array(tensor, "x")
    except GraphError as error:  # what PyTorch itself cannot do with a type
        assert "not implemented for" in str(error)
        return
    assert (found.toarray() if scipy.sparse.issparse(found) else found).tolist() == expected


@pytest.mark.parametrize(("make", "message"), [
    (lambda torch: torch.ones(4, 2, dtype=torch.complex64), "real numbers, not of type complex64"),
    (lambda torch: torch.ones(4, 2, dtype=torch.complex64).conj(), "not of type complex64"),
    (lambda torch: torch.ones(4, 2).to(torch.complex32), "x is of type torch.complex32, which"),
    (lambda torch: torch.empty(4, 2, dtype=torch.uint4), "x is of type torch.uint4, which NumPy"),
    (lambda torch: torch.empty(4, 2, dtype=torch.bits8), "x is of type torch.bits8, which NumPy"),
    (lambda torch: torch.quantize_per_tensor(torch.ones(4, 2), 0.1, 0, torch.qint8),
     r"x is quantised, of type torch\.qint8; give its dequantize\(\)"),
    (lambda torch: torch.empty(4, 2, device="meta"), "x .*meta"),
    (lambda torch: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), "x cannot be made"),
    (lambda torch: torch.empty(4, 2, dtype=torch.float4_e2m1fn_x2), "x cannot be made an array"),
    (lambda torch: [torch.ones(2), torch.ones(3)], "x are ragged: row 1 is of length 3"),
])
def test_real_tensors_that_are_refused(make, message):
    torch = pytest.importorskip("torch")
    with pytest.raises(GraphError, match=message):
        Graph.from_pyg(data(x=make(torch)))


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
