# SPDX-License-Identifier: BSD-2-Clause
"""Divides the vertices of a graph among boards: few edges cross, and all have as much to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse

from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.reference.array_types import IntArray, SparseArray

__all__ = ["Division"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Division:
    """Which board has which vertex.

    Parameters
    ----------
    boards : (V,) array of int
        Board of each vertex.
    edges : (B,) array of int
        Edges towards the vertices of each board, loops included.
    halos : (B,) array of int
        Vertices of other boards that these edges come from, each counted once.
    cut : int
        Edges between boards.
    vertex_work : int
        Edges that a vertex counted for, in addition to its own, when work was balanced.
    """

    boards: IntArray
    edges: IntArray
    halos: IntArray
    cut: int
    vertex_work: int = 0

    @classmethod
    def of(cls, adjacency: SparseArray, boards: int, parts: Sequence[float] = (),
           vertex_work: int = 0) -> Self:
        """Bisect again and again by METIS, balanced on edges, and on vertices as far as they count.

        The bits of an exact training do not depend on the division.

        Parameters
        ----------
        adjacency : scipy.sparse.csr_array
            (V, V) edges, row i holding the edges towards vertex i.
        boards : int
            How many there are.
        parts : sequence of float
            Which share of the work each of them is to have; as much each if none are given.
        vertex_work : int
            How many edges a vertex counts for in addition to its own, see ``vertex_work``.

        Raises
        ------
        ClusterError
            If there are more boards than vertices, or METIS is not installed.
        """
        vertices = adjacency.shape[0]
        if boards > vertices:
            raise ClusterError(f"{boards} boards share {vertices} vertices, but each needs one; "
                               f"take {vertices} boards or fewer")
        pattern = scipy.sparse.csr_array(
            (np.ones(adjacency.nnz, dtype=np.int32), adjacency.indices, adjacency.indptr),
            shape=adjacency.shape)
        both = scipy.sparse.csr_array(pattern + pattern.T)
        degrees = np.diff(both.indptr)
        coordinates = both.tocoo()
        apart = coordinates.row != coordinates.col
        graph = scipy.sparse.csr_array(
            (coordinates.data[apart], (coordinates.row[apart], coordinates.col[apart])),
            shape=both.shape)
        owner = np.zeros(vertices, dtype=np.int64)
        _bisect(graph, degrees.astype(np.int64) + vertex_work, np.arange(vertices), range(boards),
                parts or [1.0] * boards, owner)
        return cls.count(adjacency, owner, boards, vertex_work)

    @classmethod
    def count(cls, adjacency: SparseArray, owner: IntArray, boards: int,
              vertex_work: int = 0) -> Self:
        """Edges and halo of each board if every vertex has a certain owner."""
        rows, columns = adjacency.tocoo().coords
        crossing = owner[rows] != owner[columns]
        pairs = np.sort(owner[rows[crossing]] * np.int64(len(owner)) + columns[crossing])
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        return cls(boards=owner, edges=np.bincount(owner[rows], minlength=boards),
                   halos=np.bincount(pairs // len(owner), minlength=boards),
                   cut=int(np.count_nonzero(crossing)), vertex_work=vertex_work)

    def join(self, adjacency: SparseArray) -> Self:
        """The division among half as many boards, each of which has the parts of two."""
        return self.count(adjacency, self.boards // 2, len(self.edges) // 2, self.vertex_work)

    @property
    def work(self) -> IntArray:
        """(B,) edges of each board, and what its vertices count for."""
        vertices = np.bincount(self.boards, minlength=len(self.edges))
        return self.edges + self.vertex_work * vertices

    def __str__(self) -> str:
        total = int(self.edges.sum())
        imbalance = self.work.max() / self.work.mean() - 1
        return (f"{len(self.edges)} boards share the graph: the busiest has {imbalance:.1%} more "
                f"to do than the mean, {self.cut / total:.1%} of all edges cross between boards, "
                f"and a board reads the rows of up to {self.halos.max()} vertices of others")


def _bisect(graph: SparseArray, weights: IntArray, vertices: IntArray, boards: range,
            parts: Sequence[float], owner: IntArray) -> None:
    """Give the vertices of a graph to boards by their parts, noted in ``owner``."""
    count = len(boards)
    if count == 1:
        owner[vertices] = boards[0]
        return
    left = count // 2
    share = sum(parts[board] for board in boards[:left]) / sum(parts[board] for board in boards)
    right = np.asarray(_halves(graph, weights, share), dtype=bool)
    if np.count_nonzero(~right) < left or np.count_nonzero(right) < count - left:
        # So few vertices that METIS leaves a board without any.
        right = np.arange(len(vertices)) >= max(len(vertices) * left // count, left)
    for half, some in ((~right, boards[:left]), (right, boards[left:])):
        chosen = np.flatnonzero(half)
        _bisect(graph[chosen][:, chosen], weights[chosen], vertices[chosen], some, parts, owner)


def _halves(graph: SparseArray, weights: IntArray, share: float) -> Sequence[int]:
    """0 or 1 for each vertex: vertices with 0 have about this share of all weights."""
    try:
        import pymetis
    except ImportError as error:
        raise ClusterError("boards share a graph by METIS, but there is no pymetis; install it: "
                           "pip install 'hypercast-gcn[cluster]'") from error
    _, parts = pymetis.part_graph(
        2, pymetis.CSRAdjacency(graph.indptr, graph.indices), vweights=weights, eweights=graph.data,
        tpwgts=[share, 1 - share], recursive=True)
    found: Sequence[int] = parts
    return found
