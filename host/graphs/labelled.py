# SPDX-License-Identifier: BSD-2-Clause
"""What a graph has in common with what is known of one whose edges others hold."""

from hypercast.reference.array_types import BoolArray, IntArray

__all__ = ["Labelled"]


class Labelled:
    """Vertices with labels and splits.

    Attributes
    ----------
    labels, splits : numpy.ndarray
        As those of ``Graph``.
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
