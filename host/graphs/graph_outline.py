# SPDX-License-Identifier: BSD-2-Clause
"""What is known of a graph where others hold its edges and features."""

from dataclasses import dataclass
from typing import Self

from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.labelled import Labelled
from hypercast.reference.array_types import BoolArray, IntArray

__all__ = ["GraphOutline"]


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphOutline(Labelled):
    """A graph without edges and features.

    Parameters
    ----------
    edge_count : int
        How many edges it has.
    labels, splits
        As those of ``Graph``.
    """

    edge_count: int
    labels: IntArray | BoolArray
    splits: IntArray

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """That of a graph, whose labels and splits it shares."""
        return cls(edge_count=graph.edges.nnz, labels=graph.labels, splits=graph.splits)
