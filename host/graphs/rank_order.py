"""Deals the vertices of a graph to cores, so that all have as many rows and about as many edges."""

import heapq

import numpy as np

from hypercast.host.graphs.graph import Graph
from hypercast.reference.array_types import IntArray
from hypercast.rtl.placement import rank_of, rows_of

__all__ = ["rank_order"]

#: Cores that edges are balanced over. With half as many, each core gets what two of these have
#: (``rtl.placement`` deals in snake order), so that any smaller number is balanced, too.
_CORES = 64


def rank_order(graph: Graph) -> IntArray:
    """Vertices in the order in which they are dealt to cores.

    The busiest vertices come first. Each goes to the core that has the fewest edges so far and
    rows to spare (the rule "longest processing time first" of Graham, 1969), as its next row.

    Returns
    -------
    numpy.ndarray
        ``order[k]`` is the vertex of rank ``k``. Depends only on the graph.
    """
    degrees = _degrees(graph)
    busiest = np.argsort(-degrees, kind="stable")
    rows = [rows_of(core, graph.vertices, _CORES) for core in range(_CORES)]
    taken = [0] * _CORES
    cores = np.empty(graph.vertices, dtype=np.int64)
    loads = [(0, core) for core in range(_CORES) if rows[core]]
    for place, degree in enumerate(degrees[busiest].tolist()):
        load, core = loads[0]
        cores[place] = core
        taken[core] += 1
        if taken[core] < rows[core]:
            heapq.heapreplace(loads, (load + degree, core))
        else:
            heapq.heappop(loads)
    by_core = np.argsort(cores, kind="stable")
    row = np.concatenate([np.arange(count) for count in rows])
    order = np.empty_like(busiest)
    order[rank_of(cores[by_core], row, _CORES)] = busiest[by_core]
    return order


def _degrees(graph: Graph) -> IntArray:
    """Edges in both directions, loops left out: all vertices have one more."""
    targets, sources = graph.edges.tocoo().coords
    loops = np.bincount(targets[targets == sources], minlength=graph.vertices)
    degrees: IntArray = np.diff(graph.edges.indptr) + np.bincount(
        sources, minlength=graph.vertices) - 2 * loops
    return degrees
