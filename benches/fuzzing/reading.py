# SPDX-License-Identifier: BSD-2-Clause
"""The contents of a graph, in plain Python, to compare a reader's graph with its files."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self, SupportsInt

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.graphs.graph import Graph
from hypercast.rtl.isa import Split

__all__ = ["Reading", "edges_of", "entries_of", "labels_of", "of_graph"]


class Reading(NamedTuple):
    """The contents that a reader found in the files of a graph.

    Attributes
    ----------
    shape : tuple
        Vertices and features.
    features : dict
        (vertex, feature) to value, of values that are not zero.
    edges : set
        (source, target) of every edge, both ways if it is undirected.
    labels : list
        A class, or a tuple of booleans, for each vertex.
    splits : dict or None
        Name to a sorted list of vertices; None if the format has none.
    """

    shape: tuple[int, ...]
    features: dict[tuple[int, int], float]
    edges: set[tuple[int, int]]
    labels: list[Any]
    splits: dict[str, list[int]] | None

    def difference(self, other: Self) -> list[str]:
        """Names of parts that another one has otherwise; ``splits`` only if both have them."""
        return [name for name, one, two in zip(self._fields, self, other, strict=True)
                if one != two and (name != "splits" or None not in (one, two))]


def edges_of(pairs: Iterable[Iterable[SupportsInt]],
             directed: bool = False) -> set[tuple[int, int]]:
    """Edges of pairs of vertices."""
    found = {(int(source), int(target)) for source, target in pairs}
    return found if directed else found | {(target, source) for source, target in found}


def entries_of(
        matrix: npt.NDArray[Any] | scipy.sparse.sparray | scipy.sparse.spmatrix,
) -> dict[tuple[int, int], float]:
    """(row, column) to value of everything in an array that is not zero, sparse or dense."""
    coordinates = scipy.sparse.coo_array(matrix)
    coordinates.sum_duplicates()
    return {(int(row), int(column)): float(value) for row, column, value in zip(
        *coordinates.coords, coordinates.data, strict=True) if value != 0}


def labels_of(labels: npt.ArrayLike) -> list[int] | list[tuple[bool, ...]]:
    """A class, or a tuple of booleans, for each vertex of an array."""
    labels = np.asarray(labels)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    return labels.astype(np.int64).tolist() if labels.ndim == 1 else \
        [tuple(row) for row in (labels != 0).tolist()]


def of_graph(graph: Graph) -> Reading:
    """The ``Reading`` of a ``Graph``."""
    targets, sources = graph.edges.tocoo().coords
    return Reading(
        tuple(graph.features.shape), entries_of(graph.features),
        set(zip(sources.tolist(), targets.tolist(), strict=True)), labels_of(graph.labels),
        {split.name.lower(): np.flatnonzero(graph.splits == split).tolist()
         for split in Split if split != Split.NONE})
