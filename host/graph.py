"""Graphs to train on: vertices with features, classes and splits, and weighted edges."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse

from hypercast.reference.network import NORMALISATIONS
from hypercast.rtl.isa import Split

__all__ = ["Graph", "GraphError"]

#: What the class in a label record of the chip can count to.
_MAXIMUM_LABEL = (1 << 13) - 1


class GraphError(ValueError):
    """A graph that cannot be trained on; names the value, where it is, and what to do."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Graph:
    """A graph; make one with ``from_edges``, ``from_scipy`` or ``from_networkx``.

    Attributes
    ----------
    edges : (V, V) scipy.sparse.csr_array of float64
        Row i holds the weights of the edges towards vertex i; every edge at most once.
    features : (V, F) scipy.sparse.csr_array or numpy.ndarray, float64
        Of each vertex.
    labels : (V,) numpy.ndarray of int64
        Class of each vertex; -1 where it is not known.
    splits : (V,) numpy.ndarray of int64
        ``Split`` of each vertex.
    """

    edges: scipy.sparse.csr_array
    features: scipy.sparse.csr_array | np.ndarray
    labels: np.ndarray
    splits: np.ndarray

    # Constructors.

    @classmethod
    def from_edges(cls, edges, features, labels, *, train, validation=(), test=(), weights=None,
                   directed=False):
        """A graph from a list of edges.

        Parameters
        ----------
        edges : (E, 2) array of int
            Source and target of each edge. Duplicates are merged; loops are kept (see
            ``normalised``).
        features : (V, F) array or scipy.sparse array
            Sparse ones stay sparse.
        labels : (V,) array of int
            Class of each vertex, from 0; -1 where it is not known.
        train, validation, test : array
            Vertex numbers of each split, or V booleans. They must not overlap.
        weights : (E,) array, optional
            One per edge; 1 if not given. Duplicates must agree.
        directed : bool
            Whether an edge leads only from source to target, not back as well.

        Raises
        ------
        GraphError
            If anything does not fit.
        """
        features, labels = _checked_features(features), _checked_labels(labels)
        vertices = len(labels)
        if features.shape[0] != vertices:
            raise GraphError(f"there are {features.shape[0]} rows of features, but {vertices} "
                             f"labels; give one of each per vertex")
        splits = _checked_splits(labels, {
            Split.TRAIN: train, Split.VALIDATION: validation, Split.TEST: test})
        return cls(edges=_merged_edges(edges, weights, vertices, directed), features=features,
                   labels=labels, splits=splits)

    @classmethod
    def from_scipy(cls, adjacency, features, labels, *, train, validation=(), test=(),
                   directed=False):
        """A graph from an adjacency matrix: entry (i, j) is the weight of the edge from j to i.

        Zeros are no edges. Other parameters as for ``from_edges``.
        """
        if adjacency.shape != (len(labels), len(labels)):
            raise GraphError(f"the adjacency matrix has shape {adjacency.shape}, but there are "
                             f"{len(labels)} labels; it must be square with a row per vertex")
        entries = scipy.sparse.coo_array(adjacency)
        entries.eliminate_zeros()
        return cls.from_edges(np.stack([entries.col, entries.row], axis=1), features, labels,
                              train=train, validation=validation, test=test,
                              weights=entries.data, directed=directed)

    @classmethod
    def from_networkx(cls, graph, features, labels, *, train, validation=(), test=(), weight=None):
        """A graph from networkx: vertices are numbered in the order of ``graph.nodes``.

        Parameters
        ----------
        graph : networkx.Graph or networkx.DiGraph
            Vertices and edges.
        weight : str, optional
            Edge attribute that holds the weight; every edge weighs 1 if not given.
        features, labels, train, validation, test
            As for ``from_edges``.
        """
        number = {vertex: index for index, vertex in enumerate(graph.nodes)}
        if len(number) != len(labels):
            raise GraphError(f"the graph has {len(number)} vertices, but there are {len(labels)} "
                             f"labels; give one per vertex, in the order of graph.nodes")
        edges = [(number[source], number[target]) for source, target in graph.edges()]
        weights = None
        if weight is not None:
            weights = [value for _, _, value in graph.edges(data=weight, default=1.0)]
        return cls.from_edges(np.array(edges, dtype=np.int64).reshape(-1, 2), features, labels,
                              train=train, validation=validation, test=test, weights=weights,
                              directed=graph.is_directed())

    # Derived graphs and matrices.

    @property
    def vertices(self):
        """Number of vertices."""
        return len(self.labels)

    @property
    def classes(self):
        """Number of classes: one more than the largest label."""
        return int(self.labels.max()) + 1

    def permuted(self, order):
        """The same graph with vertex ``order[k]`` as number k."""
        rows = self.edges[order]
        number = np.empty(self.vertices, dtype=rows.indices.dtype)
        number[order] = np.arange(self.vertices)
        edges = scipy.sparse.csr_array(
            (rows.data, number[rows.indices], rows.indptr), shape=rows.shape)
        edges.sort_indices()
        return Graph(edges=edges, features=self.features[order], labels=self.labels[order],
                     splits=self.splits[order])

    def with_normalised_features(self):
        """The same graph with each row of features divided by the sum of its magnitudes."""
        sums = np.asarray(abs(self.features).sum(axis=1)).ravel()
        inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
        if scipy.sparse.issparse(self.features):
            features = scipy.sparse.csr_array(scipy.sparse.diags_array(inverse) @ self.features)
        else:
            features = self.features * inverse[:, None]
        return replace(self, features=features)

    def normalised(self, kind):
        """Edge weights for aggregation.

        Parameters
        ----------
        kind : str
            ``"symmetric"``: ``D**-1/2 (A + I) D**-1/2`` (Kipf and Welling, Semi-Supervised
            Classification with Graph Convolutional Networks, 2017); ``"mean"``:
            ``D**-1 (A + I)``; ``"given"``: the weights as they are. ``D`` holds the sums of the
            rows of ``A + I``, and the loops ``I`` replace loops of the graph.

        Returns
        -------
        scipy.sparse.csr_array
            (V, V) float64.

        Raises
        ------
        GraphError
            If the weights towards some vertex do not have a positive sum.
        """
        if kind not in NORMALISATIONS:
            raise GraphError(f"normalisation must be one of {', '.join(NORMALISATIONS)}, "
                             f"not {kind!r}")
        if kind == "given":
            return self.edges
        loops = scipy.sparse.diags_array(1.0 - self.edges.diagonal())
        looped = scipy.sparse.csr_array(self.edges + loops)
        sums = np.asarray(looped.sum(axis=1)).ravel()
        if sums.min() <= 0:
            vertex = int(sums.argmin())
            raise GraphError(f"the edge weights of vertex {vertex} and its loop sum to "
                             f"{sums[vertex]}; normalise the weights yourself and use 'given'")
        scale = sums**-(1.0 if kind == "mean" else 0.5)
        weights = np.repeat(scale, np.diff(looped.indptr)) * looped.data
        if kind == "symmetric":
            weights *= scale[looped.indices]
        return scipy.sparse.csr_array(
            (weights, looped.indices, looped.indptr), shape=looped.shape)


# --- Checks -------------------------------------------------------------------------------------


def _checked_features(features):
    if scipy.sparse.issparse(features):
        features = scipy.sparse.csr_array(features, dtype=np.float64, copy=True)
        features.sum_duplicates()
        values = features.data
    else:
        features = np.array(features, dtype=np.float64)
        values = features.ravel()
    if features.ndim != 2 or 0 in features.shape:
        raise GraphError(f"features have shape {features.shape}; give at least one vertex and "
                         f"one feature, a row per vertex")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        where = features.tocoo().coords if scipy.sparse.issparse(features) else np.indices(
            features.shape).reshape(2, -1)
        raise GraphError(f"feature {where[1][bad[0]]} of vertex {where[0][bad[0]]} is "
                         f"{values[bad[0]]}; replace it by a number")
    return features


def _checked_labels(labels):
    labels = np.array(labels)
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise GraphError(f"labels must be one integer per vertex, not an array of shape "
                         f"{labels.shape} and type {labels.dtype}")
    bad = np.flatnonzero(labels < -1)
    if bad.size:
        raise GraphError(f"label of vertex {bad[0]} is {labels[bad[0]]}; use 0 and up for "
                         f"classes, -1 for none")
    bad = np.flatnonzero(labels > _MAXIMUM_LABEL)
    if bad.size:
        raise GraphError(f"label of vertex {bad[0]} is {labels[bad[0]]}, but labels go up to "
                         f"{_MAXIMUM_LABEL}; number the classes from 0")
    return labels.astype(np.int64)


def _checked_splits(labels, members):
    splits = np.zeros(len(labels), dtype=np.int64)
    for split, vertices in members.items():
        name = split.name.lower()
        vertices = np.asarray(vertices)
        if vertices.dtype == bool:
            if vertices.shape != labels.shape:
                raise GraphError(f"the {name} split has {vertices.size} booleans for "
                                 f"{len(labels)} vertices; give one each")
            vertices = np.flatnonzero(vertices)
        if vertices.size and not np.issubdtype(vertices.dtype, np.integer):
            raise GraphError(f"the {name} split is of type {vertices.dtype}; give vertex numbers "
                             f"or booleans")
        vertices = np.unique(vertices).astype(np.int64)
        outside = vertices[(vertices < 0) | (vertices >= len(labels))]
        if outside.size:
            raise GraphError(f"the {name} split names vertex {outside[0]}, but vertices are 0 to "
                             f"{len(labels) - 1}; remove it")
        shared = vertices[splits[vertices] != Split.NONE]
        if shared.size:
            other = Split(splits[shared[0]]).name.lower()
            raise GraphError(f"vertex {shared[0]} is in the {other} and in the {name} split; "
                             f"leave it in one")
        missing = vertices[labels[vertices] < 0]
        if missing.size:
            raise GraphError(f"vertex {missing[0]} of the {name} split has no label; give it one "
                             f"or take it out of the split")
        splits[vertices] = split
    if not np.any(splits == Split.TRAIN):
        raise GraphError("the train split is empty; name at least one vertex")
    return splits


def _merged_edges(edges, weights, vertices, directed):
    """Edges and their weights as a CSR array, every edge once."""
    edges = np.asarray(edges)
    if edges.size == 0:
        edges = np.zeros((0, 2), dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2 or not np.issubdtype(edges.dtype, np.integer):
        raise GraphError(f"edges must be pairs of vertex numbers, not an array of shape "
                         f"{edges.shape} and type {edges.dtype}")
    edges = edges.astype(np.int64)
    outside = np.flatnonzero(((edges < 0) | (edges >= vertices)).any(axis=1))
    if outside.size:
        source, target = edges[outside[0]]
        raise GraphError(f"edge {outside[0]} leads from vertex {source} to {target}, but vertices "
                         f"are 0 to {vertices - 1}; remove it or number the vertices from 0")
    if weights is not None:
        weights = _checked_weights(weights, len(edges))
    if not directed:
        edges = np.concatenate([edges, edges[:, ::-1]])
    sources, targets = edges.T
    pairs = targets * vertices + sources
    if weights is None:
        # Not by np.unique, which takes a hash table: 14 times as long for ten million edges.
        pairs = np.sort(pairs)
        pairs = pairs[np.diff(pairs, prepend=-1) != 0]
        weights = np.ones(len(pairs))
    else:
        pairs, weights = _merged_weights(pairs, np.resize(weights, len(pairs)), vertices)
    starts = np.concatenate(([0], np.cumsum(np.bincount(pairs // vertices, minlength=vertices))))
    index = scipy.sparse.get_index_dtype(maxval=max(len(pairs), vertices))
    return scipy.sparse.csr_array(
        (weights, (pairs % vertices).astype(index), starts.astype(index)),
        shape=(vertices, vertices))


def _checked_weights(weights, edges):
    weights = np.array(weights, dtype=np.float64)
    if weights.shape != (edges,):
        raise GraphError(f"there are {weights.size} weights for {edges} edges; give one each")
    bad = np.flatnonzero(~np.isfinite(weights))
    if bad.size:
        raise GraphError(f"weight of edge {bad[0]} is {weights[bad[0]]}; replace it by a number")
    return weights


def _merged_weights(pairs, weights, vertices):
    """Each pair (target * vertices + source) once, and its weight."""
    merged, first, inverse = np.unique(pairs, return_index=True, return_inverse=True)
    conflict = np.flatnonzero(weights != weights[first][inverse])
    if conflict.size:
        target, source = divmod(pairs[conflict[0]], vertices)
        pair_weights = weights[first][inverse][conflict[0]], weights[conflict[0]]
        raise GraphError(f"the edge from vertex {source} to {target} has weights {pair_weights[0]} "
                         f"and {pair_weights[1]}; give it one, or declare the graph directed")
    return merged, weights[first]
