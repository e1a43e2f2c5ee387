# SPDX-License-Identifier: BSD-2-Clause
"""The outline of a graph where others hold its edges and features; a graph has one, too."""

from dataclasses import dataclass

from hypercast.reference.array_types import BoolArray, IntArray

__all__ = ["GraphOutline", "Labelled"]


class Labelled:
    """Vertices with labels and splits.

    Attributes
    ----------
    labels, splits : numpy.ndarray
        As of ``Graph``.
    """

    labels: IntArray | BoolArray
    splits: IntArray

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return len(self.labels)

    @property
    def multi_label(self) -> bool:
        """Whether a vertex can have several classes, or none."""
        return self.labels.ndim == 2


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphOutline(Labelled):
    """A graph without edges and features.

    Parameters
    ----------
    edge_count : int
        How many edges it has.
    labels, splits
        As of ``Graph``.
    """

    edge_count: int
    labels: IntArray | BoolArray
    splits: IntArray
