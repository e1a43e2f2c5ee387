# SPDX-License-Identifier: BSD-2-Clause
"""A vertex cut: a sample is a share of the edges, with the vertices at their ends.

(Cao et al., CoFree-GNN: Communication-Free Distributed GNN Training with Vertex Cut, 2023. Who has
an edge: degree-based hashing of Xie et al., Distributed Power-law Graph Computing: Theoretical and
Empirical Analysis, 2014.)
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import scipy.sparse

from hypercast.errors import InputError
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.normalisation import LOOPED
from hypercast.host.graphs.sampling.minibatch import MiniBatch
from hypercast.host.graphs.sampling.seeds import generator_of
from hypercast.reference.array_types import BoolArray, FloatArray, IntArray, SparseArray
from hypercast.rtl.isa import Split

__all__ = ["VertexCut", "largest_part"]


class VertexCut:
    """Mini-batches that are the parts of a graph whose vertices are cut.

    Every vertex draws a part. An edge is in the part of its end of lower degree, so that vertices
    of high degree are cut. A vertex is in each part that has an edge of it, and is a vertex of its
    own there: each part is normalised as a graph of its own. Where that adds loops, every copy of a
    vertex has the vertex' loop, with the weight that the graph gives it. A vertex without edges is
    in the part it drew. Of a vertex' loss, a part has the share of its edges that are there. So the
    mean of the batches' losses is the mean over the vertices to train on, each counted once.

    Parameters
    ----------
    graph : Graph
        What is cut.
    normalisation : str
        As of ``Graph.normalise``, with which every part is normalised.
    gin_epsilon : float
        As of ``Graph.normalise``.
    parts : int
        Number of parts.
    layers : int
        Layers of the network; all have the same matrix.
    seed : int
        Seed of the parts that vertices draw.

    Raises
    ------
    InputError
        If a part has no vertex to train on.
    """

    def __init__(self, graph: Graph, normalisation: str, gin_epsilon: float, *, parts: int,
                 layers: int, seed: int = 0) -> None:
        self._graph, self._normalisation, self._epsilon = graph, normalisation, gin_epsilon
        self._layers, self._parts = layers, parts
        self._degrees, self._drawn, self._edge_parts = _deal(graph, parts, seed)
        self._loops: FloatArray = graph.with_loops().edges.diagonal()
        self._train: BoolArray = graph.splits == Split.TRAIN
        self._batch = lru_cache(maxsize=None)(self._cut)
        shares = [self._shares(part) for part in range(parts)]
        empty = [part for part, share in enumerate(shares) if not (share * self._train).any()]
        if empty:
            raise InputError(
                f"of {parts} parts of a vertex cut, {len(empty)} have none of the "
                f"{np.count_nonzero(self._train)} vertices to train on; take fewer parts, or "
                f"another seed")
        self.heaviest = max(float((share * self._train).max()) for share in shares) \
            * parts / np.count_nonzero(self._train)

    def __len__(self) -> int:
        """Batches of an epoch: each part once."""
        return self._parts

    def batch(self, epoch: int, number: int) -> MiniBatch:
        """The ``MiniBatch`` of a part, the same in every epoch; any thread may ask."""
        return self._batch(number)

    def _shares(self, part: int) -> FloatArray:
        """For each vertex, the share of its edges that a part has."""
        matrix, graph = self._graph.edges, self._graph
        here = np.flatnonzero(self._edge_parts == part)
        rows = np.searchsorted(matrix.indptr, here, side="right") - 1
        counts = (np.bincount(rows, minlength=graph.vertices)
                  + np.bincount(matrix.indices[here], minlength=graph.vertices))
        alone = (self._degrees == 0) & (self._drawn == part)
        return np.where(alone, 1.0, counts / np.maximum(self._degrees, 1))

    def _cut(self, part: int) -> MiniBatch:
        graph, shares = self._graph, self._shares(part)
        vertices = np.flatnonzero(shares)
        here = self._edge_parts == part
        starts = np.concatenate([[0], np.cumsum(here)])[graph.edges.indptr]
        edges = scipy.sparse.csr_array(
            (graph.edges.data[here], graph.edges.indices[here], starts), shape=graph.edges.shape)
        own = replace(graph, edges=edges).among(vertices)
        if self._normalisation in LOOPED:
            own = replace(own, edges=_with_loops(own.edges, self._loops[vertices]))
        matrix = own.normalise(self._normalisation, self._epsilon)
        return MiniBatch(
            levels=(vertices,) * (self._layers + 1), matrices=(matrix,) * self._layers, number=part,
            loss_weights=shares[vertices] * self._train[vertices]
            * (self._parts / np.count_nonzero(self._train)))


def largest_part(graph: Graph, parts: int, seed: int, *, looped: bool = False) -> tuple[int, int]:
    """The most vertices, and the most edges, that a part of a ``VertexCut`` has.

    Parameters
    ----------
    graph, parts, seed
        As of ``VertexCut``.
    looped : bool
        Whether every vertex has a loop in each part; these loops are not among the edges.
    """
    degrees, drawn, edge_parts = _deal(graph, parts, seed)
    here = np.zeros((graph.vertices, parts), dtype=bool)
    here[_rows(graph), edge_parts] = here[graph.edges.indices, edge_parts] = True
    alone = np.flatnonzero(degrees == 0)
    here[alone, drawn[alone]] = True
    if looped:
        edge_parts = edge_parts[_rows(graph) != graph.edges.indices]
    return (int(np.count_nonzero(here, axis=0).max()),
            int(np.bincount(edge_parts, minlength=parts).max()))


def _with_loops(edges: SparseArray, loops: FloatArray) -> SparseArray:
    """A part's edges with these loops, and no others; one of weight 0 is stored, too."""
    entries, numbers = edges.tocoo(), np.arange(len(loops))
    others = entries.row != entries.col
    found = scipy.sparse.csr_array((
        np.concatenate([entries.data[others], loops]),
        (np.concatenate([entries.row[others], numbers]),
         np.concatenate([entries.col[others], numbers]))), shape=edges.shape)
    found.sort_indices()
    return found


def _rows(graph: Graph) -> IntArray:
    """The vertex that each edge leads to."""
    return np.repeat(np.arange(graph.vertices), np.diff(graph.edges.indptr))


def _deal(graph: Graph, parts: int, seed: int) -> tuple[IntArray, IntArray, IntArray]:
    """Degree of every vertex, the part that it draws, and the part of every edge."""
    rows, columns = _rows(graph), graph.edges.indices
    degrees: IntArray = (np.bincount(rows, minlength=graph.vertices)
                         + np.bincount(columns, minlength=graph.vertices))
    drawn: IntArray = generator_of(seed).integers(parts, size=graph.vertices)
    # Both directions of an edge have the same lower end.
    first, second = np.minimum(rows, columns), np.maximum(rows, columns)
    lower = np.where(degrees[second] < degrees[first], second, first)
    return degrees, drawn, drawn[lower]
