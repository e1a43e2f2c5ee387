# SPDX-License-Identifier: BSD-2-Clause
"""A graph in the forms of other libraries: stand-ins with their attributes."""

from types import SimpleNamespace

import numpy as np
import scipy.sparse

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


def check(graph):
    assert graph.edges.todense().tolist() == ADJACENCY
    features = graph.features
    assert (features.todense() if scipy.sparse.issparse(features) else features).tolist() \
        == FEATURES.tolist()
    assert graph.labels.tolist() == LABELS.tolist()
    assert graph.splits.tolist() == SPLITS
