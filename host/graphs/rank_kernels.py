# SPDX-License-Identifier: BSD-2-Clause
"""The hot loops of the order of vertices, compiled; ``rank_order`` says what it is."""

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import IntArray
from hypercast.reference.kernels import kernel

__all__ = ["count_degrees", "deal_vertices", "sort_busiest"]


@kernel("void(in1(int64), in1(int32), int64[::1])")
def count_degrees(starts: IntArray, sources: npt.NDArray[np.int32], degrees: IntArray) -> None:
    """Count the edges of each vertex in both directions, without loops.

    Parameters
    ----------
    starts : (V + 1,) array of int64
        Where the edges towards each vertex start.
    sources : (edges,) array of int32
        Where they come from.
    degrees : (V,) array of int64
        Zeros; gets the numbers.
    """
    for target in range(len(starts) - 1):
        for edge in range(starts[target], starts[target + 1]):
            source = sources[edge]
            if source != target:
                degrees[target] += 1
                degrees[source] += 1


@kernel("void(in1(int64), int64[::1])")
def sort_busiest(degrees: IntArray, busiest: IntArray) -> None:
    """Sort vertices by their edges, most first; of as many, the lower number first.

    Parameters
    ----------
    degrees : (V,) array of int64
        Edges of each vertex.
    busiest : (V,) array of int64
        Gets the vertices.
    """
    places = np.zeros(degrees.max() + 2, dtype=np.int64)
    for degree in degrees:
        places[degree] += 1
    for degree in range(len(places) - 2, -1, -1):
        places[degree] += places[degree + 1]
    for vertex in range(len(degrees)):
        # Where vertices of larger degrees end; then where the last one of this degree went.
        place = places[degrees[vertex] + 1]
        places[degrees[vertex] + 1] = place + 1
        busiest[place] = vertex


@kernel("void(in1(int64), in1(int64), in1(int64), int64[::1], int64[::1])")
def deal_vertices(vertices: IntArray, degrees: IntArray, rows: IntArray, loads: IntArray,
                  order: IntArray) -> None:
    """Deal vertices to cores one by one, each to the core with the fewest edges so far.

    Parameters
    ----------
    vertices : (vertices,) array of int64
        Vertices.
    degrees : (V,) array of int64
        Edges of each vertex of the graph.
    rows : (cores,) array of int64
        Vertices that each core gets.
    loads : (cores,) array of int64
        Edges that each core has; those that it gets are added.
    order : (vertices,) array of int64
        Gets the vertex of each rank, from the first of these ranks on, which is in an even row.
    """
    cores = len(rows)
    taken = np.zeros(cores, dtype=np.int64)
    for vertex in vertices:
        best = -1
        for core in range(cores):
            if taken[core] < rows[core] and (best < 0 or loads[core] < loads[best]):
                best = core
        row = taken[best]
        # ``placement.rank_of``.
        order[row * cores + (best ^ (cores - 1) * (row & 1))] = vertex
        taken[best] = row + 1
        loads[best] += degrees[vertex]
