# SPDX-License-Identifier: BSD-2-Clause
"""Deals the vertices of a graph to cores, so that all have as many rows and about as many edges.

The rows of a large graph are worked on strip by strip, and strips are to have about as many edges,
too, whatever their size: a loop does the same for each (``rtl.loop``). So vertices are dealt block
by block, and each block has vertices of all degrees: the fractions of their numbers, from the
busiest one on, times the golden ratio are in the same range. Such numbers are evenly spread (the
three gaps theorem; Sos, On the distribution mod 1 of the sequence n alpha, 1958).
"""

import numpy as np

from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.rank_kernels import count_degrees, deal_vertices, sort_busiest
from hypercast.reference.array_types import IntArray
from hypercast.rtl.placement import SPREAD, rows_of

__all__ = ["rank_order"]

#: Cores that edges are balanced over. With half as many, each core gets what two of these have
#: (``rtl.placement`` deals in snake order), so that any smaller number is balanced, too.
_CORES = 64
#: Vertices of a block: an even number of rows.
_BLOCK = 64 * _CORES
#: The golden ratio's fraction, of 32 bits.
_GOLDEN, _MASK = 0x9E3779B9, 0xFFFFFFFF


def rank_order(graph: Graph) -> IntArray:
    """Vertices in the order in which they are dealt to cores; takes time linear in the graph.

    Edges count in both directions, loops do not. The busiest vertex comes first. Each goes to the
    core that has the fewest edges so far and rows to spare (the rule "longest processing time
    first" of Graham, 1969), as its next row. ``SPREAD`` vertices and more are dealt in blocks, each
    with vertices of all degrees.

    Returns
    -------
    numpy.ndarray
        ``order[k]`` is the vertex of rank ``k``. Depends only on the graph.
    """
    edges = graph.edges
    degrees = np.zeros(graph.vertices, dtype=np.int64)
    count_degrees(edges.indptr.astype(np.int64, copy=False),
                  np.ascontiguousarray(edges.indices, dtype=np.int32), degrees)
    busiest, order = np.empty((2, graph.vertices), dtype=np.int64)
    sort_busiest(degrees, busiest)
    loads = np.zeros(_CORES, dtype=np.int64)
    first = 0
    for block in _blocks(busiest):
        deal_vertices(block, degrees, np.array(
            [rows_of(core, len(block), _CORES) for core in range(_CORES)]), loads,
            order[first:first + len(block)])
        first += len(block)
    return order


def _blocks(busiest: IntArray) -> list[IntArray]:
    """The vertices that are dealt together, the busiest first in each."""
    if len(busiest) < SPREAD:
        return [busiest]
    numbers = np.arange(len(busiest))
    places = np.argsort(numbers * _GOLDEN & _MASK, kind="stable")
    return [busiest[np.sort(part)] for part in np.split(
        places, range(_BLOCK, len(busiest), _BLOCK))]
