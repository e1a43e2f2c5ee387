# SPDX-License-Identifier: BSD-2-Clause
"""Graphs to train on: vertices with features, classes and splits, and weighted edges."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.graphs import datasets
from hypercast.host.graphs.graph_arguments import graph_arguments
from hypercast.host.graphs.graph_checks import checked_labels, checked_splits, checked_vertices
from hypercast.host.graphs.graph_error import GraphError, about
from hypercast.host.graphs.graph_outline import Labelled
from hypercast.host.graphs.interchange.dgl import dgl_arguments
from hypercast.host.graphs.interchange.networkx import networkx_edges
from hypercast.host.graphs.interchange.pyg import pyg_arguments
from hypercast.host.graphs.normalisation import (
    add_loops,
    normalise_edges,
    normalise_features,
)
from hypercast.host.graphs.parallel_edges import Parallel, matrix_edges
from hypercast.reference.array_types import (
    BoolArray,
    FloatMatrix,
    IntArray,
    SparseArray,
)
from hypercast.rtl.isa import Split

__all__ = ["Graph", "GraphError"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Graph(Labelled):
    """A graph; make one with ``load``, ``from_edges``, ``from_scipy``, ``from_networkx``,
    ``from_pyg`` or ``from_dgl``.

    Attributes
    ----------
    edges : (V, V) scipy.sparse.csr_array of float64
        Row i holds the weights of the edges towards vertex i; every edge at most once.
    features : (V, F) scipy.sparse.csr_array or numpy.ndarray, float64
        Features of each vertex.
    labels : (V,) numpy.ndarray of int64, or (V, C) numpy.ndarray of bool
        Class of each vertex, -1 where it is not known; or, of a multi-label graph, which of the
        classes each vertex has.
    splits : (V,) numpy.ndarray of int64
        ``Split`` of each vertex.
    """

    edges: SparseArray
    features: FloatMatrix
    labels: IntArray | BoolArray
    splits: IntArray

    def __repr__(self) -> str:
        counts = ", ".join(f"{split.name.lower()}={np.count_nonzero(self.splits == split)}"
                           for split in Split if split != Split.NONE)
        return (f"Graph(vertices={self.vertices}, edges={self.edges.nnz}, "
                f"features={self.features.shape[1]}, classes={self.classes}, {counts})")

    # Constructors.

    @classmethod
    def load(cls, source: str | PathLike[str]) -> Self:
        """A bundled data set by its name, or the data set of a file or folder by its path.

        Raises
        ------
        DatasetError
            If there is no such thing, or a file is damaged.
        """
        return cls(**datasets.load(source))

    @classmethod
    def from_edges(cls, edges: npt.ArrayLike, features: npt.ArrayLike | SparseArray,
                   labels: npt.ArrayLike | SparseArray, *, train: npt.ArrayLike,
                   validation: npt.ArrayLike = (), test: npt.ArrayLike = (),
                   weights: npt.ArrayLike | None = None, directed: bool = False) -> Self:
        """A graph from a list of edges.

        Parameters
        ----------
        edges : (E, 2) array of int
            Source and target of each edge. An edge that is there several times is merged, with a
            warning; loops are kept (see ``normalise``).
        features : (V, F) array or scipy.sparse array
            Sparse features stay sparse; dense ones become sparse if less than an eighth is not
            zero.
        labels : (V,) or (V, 1) array of int, or (V, C) array of 0 and 1
            Class of each vertex, from 0, -1 where it is not known; or the classes of a multi-label
            graph.
        train, validation, test : array
            Vertex numbers of each split, or V booleans. They must not overlap.
        weights : (E,) array, optional
            One per edge; 1 if not given. Weights of the same edge must agree, up to 64 units in the
            last place of float64, or of float32 if they are of that type (2 of float16), so that it
            does not matter in which order they were computed. The largest is taken.
        directed : bool
            Whether an edge leads only from source to target, not back as well.

        Raises
        ------
        GraphError
            If anything does not fit.
        """
        return cls(**graph_arguments(edges, features, labels, train=train, validation=validation,
                                     test=test, weights=weights, directed=directed))

    @classmethod
    def from_scipy(cls, adjacency: SparseArray | npt.NDArray[Any],
                   features: npt.ArrayLike | SparseArray, labels: npt.ArrayLike | SparseArray, *,
                   train: npt.ArrayLike, validation: npt.ArrayLike = (),
                   test: npt.ArrayLike = (), directed: bool = False) -> Self:
        """A graph from an adjacency matrix: entry (i, j) is the weight of the edge from j to i.

        Entries that are stored in several parts are their sum, as in SciPy. Zeros are no edges.

        Parameters
        ----------
        adjacency : (V, V) scipy.sparse array or numpy.ndarray
            The matrix.
        directed : bool
            Otherwise edges lead both ways: entries (i, j) and (j, i) must agree, as weights of
            ``from_edges``, or one of them be zero.
        features, labels, train, validation, test
            As for ``from_edges``.

        Raises
        ------
        GraphError
            If anything does not fit.
        """
        with about("labels"):
            labels = checked_labels(labels)
        with about("edges"):
            edges, weights = matrix_edges(adjacency, len(labels))
        return cls.from_edges(edges, features, labels, train=train, validation=validation,
                              test=test, weights=weights, directed=directed)

    @classmethod
    def from_networkx(cls, graph: Any, features: npt.ArrayLike | SparseArray,
                      labels: npt.ArrayLike | SparseArray, *, train: npt.ArrayLike,
                      validation: npt.ArrayLike = (), test: npt.ArrayLike = (),
                      weight: str | None = None) -> Self:
        """A graph from networkx: vertices are numbered in the order of ``graph.nodes``.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            Vertices and edges. Weights of parallel edges add up, as in networkx' adjacency matrix.
        weight : str, optional
            Edge attribute that holds the weight, 1 where an edge has none; every edge weighs 1 if
            not given.
        features, labels, train, validation, test
            As for ``from_edges``.

        Raises
        ------
        GraphError
            If anything does not fit.
        """
        with about("labels"):
            labels = checked_labels(labels)
        with about("edges"):
            edges, weights, directed = networkx_edges(graph, weight, len(labels))
        return cls(**graph_arguments(edges, features, labels, train=train, validation=validation,
                                     test=test, weights=weights, directed=directed,
                                     parallel=Parallel.MULTIGRAPH))

    @classmethod
    def from_pyg(cls, data: Any, *, weight: str | None = None,
                 parts: Mapping[str, object] | None = None) -> Self:
        """A graph from a ``torch_geometric.data.Data``, with the edges and directions it has.

        Weights of parallel edges add up, as the messages along them do there.

        Parameters
        ----------
        data : torch_geometric.data.Data
            With ``x``, ``y``, and ``edge_index`` or ``adj_t``. Of masks that hold several splits,
            one per column, the first is taken.
        weight : str, optional
            Attribute that holds a number per edge of ``edge_index``, such as ``"edge_weight"``;
            every edge weighs 1 if not given; edges of ``adj_t`` have its weights.
        parts : dict, optional
            Splits, as ``random_split`` makes them, instead of ``train_mask``, ``val_mask`` and
            ``test_mask``.

        Raises
        ------
        GraphError
            If anything is missing or does not fit.
        """
        return cls(**graph_arguments(**pyg_arguments(data, weight, parts), directed=True,
                                     parallel=Parallel.MULTIGRAPH))

    @classmethod
    def from_dgl(cls, graph: Any, *, features: str = "feat", labels: str = "label",
                 weight: str | None = None,
                 parts: Mapping[str, object] | None = None) -> Self:
        """A graph from a homogeneous ``dgl.DGLGraph``, with the edges and directions it has.

        Weights of parallel edges add up, as the messages along them do there.

        Parameters
        ----------
        graph : dgl.DGLGraph
            Vertices and edges.
        features, labels : str
            Names of the vertices' data.
        weight : str, optional
            Name of the edges' data that holds a number each; every edge weighs 1 if not given.
        parts : dict, optional
            As for ``from_pyg``.

        Raises
        ------
        GraphError
            If anything is missing or does not fit.
        """
        return cls(**graph_arguments(**dgl_arguments(graph, features, labels, weight, parts),
                                     directed=True, parallel=Parallel.MULTIGRAPH))

    # Derived graphs and matrices.

    @property
    def classes(self) -> int:
        """Number of classes: one more than the largest label, or columns of labels."""
        return self.labels.shape[1] if self.multi_label else int(self.labels.max()) + 1

    def with_splits(self, *, train: npt.ArrayLike, validation: npt.ArrayLike = (),
                    test: npt.ArrayLike = ()) -> Self:
        """This graph with other splits, given as for ``from_edges``."""
        return replace(self, splits=checked_splits(self.labels, train, validation, test))

    def among(self, vertices: npt.ArrayLike) -> "Graph":
        """The graph of some vertices and the edges among them; vertex ``vertices[k]`` is number k.

        With the vertices to train on, it is the graph that inductive training takes.

        Raises
        ------
        GraphError
            If they are not numbers of vertices, each at most once, or booleans; or there are none.
        """
        vertices = checked_vertices(vertices, "the part", self.vertices)
        if not vertices.size:
            raise GraphError("the part is empty; name at least one vertex")
        return Graph(edges=scipy.sparse.csr_array(self.edges[vertices][:, vertices]),
                     features=self.features[vertices], labels=self.labels[vertices],
                     splits=self.splits[vertices])

    def permute(self, order: npt.ArrayLike) -> "Graph":
        """This graph with vertex ``order[k]`` as number k.

        Raises
        ------
        GraphError
            If the order does not have the number of each vertex once.
        """
        order = checked_vertices(order, "the order", self.vertices)
        if len(order) != self.vertices:
            raise GraphError(f"the order has {len(order)} of {self.vertices} vertices; give the "
                             f"number of each, once (Graph.among takes some)")
        rows = self.edges[order]
        number = np.empty(self.vertices, dtype=rows.indices.dtype)
        number[order] = np.arange(self.vertices)
        edges = scipy.sparse.csr_array(
            (rows.data, number[rows.indices], rows.indptr), shape=rows.shape)
        edges.sort_indices()
        return Graph(edges=edges, features=self.features[order], labels=self.labels[order],
                     splits=self.splits[order])

    def with_normalised_features(self) -> Self:
        """This graph with each row of features divided by the sum of its magnitudes.

        Raises
        ------
        GraphError
            If that sum, or one divided by it, is beyond the largest float64.
        """
        return replace(self, features=normalise_features(self.features))

    def with_loops(self) -> Self:
        """This graph with a loop of weight 1 at each vertex that has none.

        So does ``torch_geometric.utils.add_remaining_self_loops``, and GCNConv with it.
        """
        return replace(self, edges=add_loops(self.edges))

    def normalise(self, kind: str, epsilon: float = 0.0) -> SparseArray:
        """Edge weights for aggregation.

        Parameters
        ----------
        kind : str
            ``"symmetric"``: ``D**-1/2 (A + I) D**-1/2`` (Kipf and Welling, Semi-Supervised
            Classification with Graph Convolutional Networks, 2017); ``"mean"``:
            ``D**-1 (A + I)``; ``"given"``: the weights without change. ``D`` holds the sums of the
            rows of ``A + I``, and ``I`` has loops where the graph has none: loops that it has keep
            their weights (``with_loops``). ``"neighbours"``: the mean of GraphSAGE, each row of
            ``A`` divided by its sum; a row without edges stays zero. ``"sum"``: GIN's sum,
            ``A + (1 + epsilon) I``. To these two, loops of the graph are edges like others.
        epsilon : float
            The epsilon of ``"sum"``.

        Returns
        -------
        scipy.sparse.csr_array
            (V, V) float64.

        Raises
        ------
        GraphError
            If the weights towards some vertex do not have a positive sum that is a number.
        """
        return normalise_edges(self.edges, kind, epsilon)
