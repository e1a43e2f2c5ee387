# SPDX-License-Identifier: BSD-2-Clause
"""The four graphs of the full-size study, by their statistics."""

from dataclasses import dataclass

import numpy as np

from hypercast.reference.array_types import IntArray

__all__ = ["GRAPHS", "GraphStatistics", "power_law"]

#: Exponent of degree over rank, for a density of degrees with exponent 3 (Barabasi and Albert,
#: Emergence of Scaling in Random Networks, 1999).
_RANK_EXPONENT = -0.5


def power_law(count: int, total: int) -> IntArray:
    """Non-negative integers that fall with the rank by a power law.

    Parameters
    ----------
    count : int
        How many; at least 1.
    total : int
        Exact sum of the integers.

    Returns
    -------
    numpy.ndarray
        (count,) int64, of the largest to the smallest but for rounding.
    """
    sums = np.cumsum(np.arange(1, count + 1) ** _RANK_EXPONENT)
    found: IntArray = np.diff(np.rint(sums * (total / sums[-1])).astype(np.int64), prepend=0)
    return found


@dataclass(frozen=True, kw_only=True)
class GraphStatistics:
    """The known sizes of a graph.

    Parameters
    ----------
    vertices : int
        Vertices.
    edges : int
        Edges, each counted in both directions, without loops.
    features : int
        Input features of a vertex.
    classes : int
        Classes.
    """

    vertices: int
    edges: int
    features: int
    classes: int

    def degrees(self) -> IntArray:
        """A power law's degrees: (vertices,) int64 with sum ``edges``."""
        return power_law(self.vertices, self.edges)


#: Reddit is the sparse one of GraphSAINT's.
GRAPHS = {
    "Flickr": GraphStatistics(vertices=89_250, edges=899_756, features=500, classes=7),
    "Reddit": GraphStatistics(vertices=232_965, edges=23_213_838, features=602, classes=41),
    "Yelp": GraphStatistics(vertices=716_847, edges=13_954_819, features=300, classes=100),
    "AmazonProducts": GraphStatistics(
        vertices=1_569_960, edges=264_339_468, features=200, classes=107),
}
