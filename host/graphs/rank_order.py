# SPDX-License-Identifier: BSD-2-Clause
"""Deals the vertices of a graph to cores, so that all have as many rows and about as many edges."""

import numpy as np

from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.rank_kernels import count_degrees, deal_vertices
from hypercast.reference.array_types import IntArray
from hypercast.rtl.placement import rows_of

__all__ = ["rank_order"]

#: Cores that edges are balanced over. With half as many, each core gets what two of these have
#: (``rtl.placement`` deals in snake order), so that any smaller number is balanced, too.
_CORES = 64


def rank_order(graph: Graph) -> IntArray:
    """Vertices in the order in which they are dealt to cores; takes time linear in the graph.

    The busiest vertices come first; edges count in both directions, loops do not. Each goes to the
    core that has the fewest edges so far and rows to spare (the rule "longest processing time
    first" of Graham, 1969), as its next row.

    Returns
    -------
    numpy.ndarray
        ``order[k]`` is the vertex of rank ``k``. Depends only on the graph.
    """
    edges = graph.edges
    degrees = np.zeros(graph.vertices, dtype=np.int64)
    count_degrees(edges.indptr.astype(np.int64, copy=False),
                  np.ascontiguousarray(edges.indices, dtype=np.int32), degrees)
    order = np.empty(graph.vertices, dtype=np.int64)
    deal_vertices(degrees, np.array(
        [rows_of(core, graph.vertices, _CORES) for core in range(_CORES)]), order)
    return order
