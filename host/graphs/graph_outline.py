"""What is known of a graph where others hold its edges and features."""

from dataclasses import dataclass
from typing import Protocol, Self

from hypercast.host.graphs.graph import Graph
from hypercast.reference.array_types import BoolArray, IntArray

__all__ = ["GraphOutline", "Labelled"]


class Labelled(Protocol):
    """What has labels and splits like those of a graph."""

    @property
    def labels(self) -> IntArray | BoolArray:
        """As those of ``Graph``."""

    @property
    def splits(self) -> IntArray:
        """As those of ``Graph``."""

    @property
    def multi_label(self) -> bool:
        """Whether a vertex can have several classes, or none."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphOutline:
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

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return len(self.labels)

    @property
    def multi_label(self) -> bool:
        """Whether a vertex can have several classes, or none."""
        return self.labels.ndim == 2
