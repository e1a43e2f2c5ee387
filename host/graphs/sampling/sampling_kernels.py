# SPDX-License-Identifier: BSD-2-Clause
"""The hot loops of samplers, compiled.

A set of vertices is a word of bits for every 64 vertices of the graph, and how many members there
are before each word. So a vertex is looked up in two small tables, and members come in increasing
order without being sorted.
"""

import numpy as np
import numpy.typing as npt
from numpy import uint64

from hypercast.reference.array_types import FloatArray, IntArray
from hypercast.reference.kernels import kernel

__all__ = ["count_neighbours", "draw_candidates", "draw_neighbours", "find_entries", "relabel"]


@kernel("int64(in1(int64), in1(float64), in1(int64), int64, int32[::1], int64[::1])")
def count_neighbours(starts: IntArray, loops: FloatArray, vertices: IntArray, fan_out: int,
                     row_starts: npt.NDArray[np.int32], degrees: IntArray) -> int:
    """Count what is taken of each vertex.

    Parameters
    ----------
    starts, loops
        As of ``Neighbourhoods``.
    vertices : (D,) array of int64
        The vertices.
    fan_out : int
        Neighbours of each at most.
    row_starts : (D + 1,) array of int32
        Gets where each vertex's entries start: its loop's, if it has one, and its neighbours'.
    degrees : (D,) array of int64
        Gets the neighbours of vertices that have more than ``fan_out``.

    Returns
    -------
    int
        How many such vertices there are.
    """
    many, place = 0, np.int64(0)
    for row in range(len(vertices)):
        row_starts[row] = place
        vertex = uint64(vertices[row])
        degree = starts[vertex + uint64(1)] - starts[vertex]
        if degree > fan_out:
            degrees[many] = degree
            many += 1
        place += min(degree, fan_out) + (loops[vertex] != 0)
    row_starts[len(vertices)] = place
    return many


@kernel("int64(in1(int64), int64, in1(uint32), int64, int32[:, ::1])")
def draw_candidates(limits: IntArray, count: int, bits: npt.NDArray[np.uint32], first: int,
                    candidates: npt.NDArray[np.int32]) -> int:
    """Draw the numbers that Floyd's algorithm takes, unless they are taken.

    (Bentley, Programming Pearls: A Sample of Brilliance, 1987. A number below a limit is drawn by
    Lemire's method, Fast Random Integer Generation in an Interval, 2019, as NumPy does.)

    Parameters
    ----------
    limits : (R,) array of int64
        A row's numbers are below its limit, which is at least ``count``.
    count : int
        Numbers of a row.
    bits : (B,) array of uint32
        Random bits.
    first : int
        The first of them that has not been used.
    candidates : (R, count) array of int32
        Gets a number for each step: below the limit, less the steps that follow.

    Returns
    -------
    int
        The first that has not been used now; -1 if there were too few.
    """
    for step in range(count):
        for row in range(len(limits)):
            size = np.uint64(limits[row] - count + step + 1)
            if size == 1:
                candidates[row, step] = 0
                continue
            while True:
                if first == len(bits):
                    return -1
                product = np.uint64(bits[first]) * size
                first += 1
                low = product & np.uint64(0xFFFFFFFF)
                if low >= size or low >= (np.uint64(1) << np.uint64(32)) % size:
                    break
            candidates[row, step] = product >> np.uint64(32)
    return first


@kernel("void(in1(int64), in1(int32), in1(float64), in1(float64), in1(int64), int64, in2(int32), "
        "int32[::1], int32[::1], float64[::1])")
def draw_neighbours(starts: IntArray, columns: npt.NDArray[np.int32], weights: FloatArray,
                    loops: FloatArray, vertices: IntArray, fan_out: int,
                    candidates: npt.NDArray[np.int32], row_starts: npt.NDArray[np.int32],
                    drawn: npt.NDArray[np.int32], drawn_weights: FloatArray) -> None:
    """Take the neighbours drawn of each vertex, after its loop.

    Parameters
    ----------
    starts, columns, weights, loops
        As of ``Neighbourhoods``.
    vertices : (D,) array of int64
        The vertices.
    fan_out : int
        Neighbours of each at most.
    candidates : (R, fan_out) array of int32
        What ``draw_candidates`` drew, for vertices with more neighbours than ``fan_out``.
    row_starts : (D + 1,) array of int32
        Where each vertex's entries start.
    drawn : (N,) array of int32
        Gets the neighbours, in the order of their positions; a loop first.
    drawn_weights : (N,) array of float64
        Gets their weights, multiplied by the share of neighbours that each stands for.
    """
    chosen = np.empty(fan_out, dtype=np.int32)
    many = 0
    for row in range(len(vertices)):
        vertex = uint64(vertices[row])
        place, start = uint64(row_starts[row]), starts[vertex]
        degree = starts[vertex + uint64(1)] - start
        if loops[vertex] != 0:
            drawn[place] = vertex
            drawn_weights[place] = loops[vertex]
            place += uint64(1)
        if degree <= fan_out:
            for entry in range(start, start + degree):
                drawn[place] = columns[uint64(entry)]
                drawn_weights[place] = weights[uint64(entry)]
                place += uint64(1)
            continue
        scale = degree / fan_out
        for step in range(fan_out):
            candidate = candidates[many, step]
            # Sorted: numbers of earlier steps are below the largest number of this one.
            at = step
            while at and chosen[uint64(at - 1)] > candidate:
                at -= 1
            if at and chosen[uint64(at - 1)] == candidate:
                chosen[step] = degree - fan_out + step
            else:
                for other in range(step, at, -1):
                    chosen[uint64(other)] = chosen[uint64(other - 1)]
                chosen[uint64(at)] = candidate
        many += 1
        for step in range(fan_out):
            taken = uint64(start + chosen[step])
            drawn[place] = columns[taken]
            drawn_weights[place] = weights[taken] * scale
            place += uint64(1)


@kernel("int64(in1(int64), int64, int32[::1], int64[::1])")
def relabel(destinations: IntArray, vertices: int, columns: npt.NDArray[np.int32],
            sources: IntArray) -> int:
    """Number the vertices of a layer.

    Parameters
    ----------
    destinations : (D,) array of int64
        Vertices, each once, that are numbers 0 to D - 1.
    vertices : int
        Vertices of the graph.
    columns : (E,) array of int32
        Vertices, any number of times; become their numbers.
    sources : (D + E,) array of int64
        Gets the destinations, and in increasing order the other vertices of ``columns``.

    Returns
    -------
    int
        How many sources there are.
    """
    words = (vertices + 63) // 64
    own, new = np.zeros(words, dtype=np.uint64), np.zeros(words, dtype=np.uint64)
    own_before, new_before = np.empty(words, np.int32), np.empty(words, np.int32)
    places = np.empty(len(destinations), dtype=np.int32)
    one, six, low = uint64(1), uint64(6), uint64(63)

    def ones(word: np.uint64) -> np.int32:
        count = np.int32(0)
        while word:  # compiled to one instruction
            word &= word - one
            count += np.int32(1)
        return count

    for number in range(len(destinations)):
        vertex = uint64(destinations[number])
        own[vertex >> six] |= one << (vertex & low)
    for entry in range(len(columns)):
        vertex = uint64(columns[entry])
        new[vertex >> six] |= one << (vertex & low)
    count, found = np.int32(0), uint64(len(destinations))
    for word in range(words):
        own_before[word], new_before[word] = count, found
        left = new[word] & ~own[word]
        new[word] = left
        count += ones(own[word])
        while left:
            lowest = left & (~left + one)
            sources[found] = (word << 6) + ones(lowest - one)
            found += one
            left ^= lowest
    for number in range(len(destinations)):
        vertex = uint64(destinations[number])
        below = own[vertex >> six] & ((one << (vertex & low)) - one)
        places[uint64(own_before[vertex >> six] + ones(below))] = number
        sources[number] = vertex
    for entry in range(len(columns)):
        vertex = uint64(columns[entry])
        at, bit = vertex >> six, one << (vertex & low)
        if own[at] & bit:
            columns[entry] = places[uint64(own_before[at] + ones(own[at] & (bit - one)))]
        else:
            columns[entry] = new_before[at] + ones(new[at] & (bit - one))
    return int(found)


@kernel("int64(in1(int64), in1(int32), in1(int64), int64[::1], int32[::1], int32[::1])")
def find_entries(starts: IntArray, columns: npt.NDArray[np.int32], members: IntArray,
                 positions: IntArray, numbers: npt.NDArray[np.int32],
                 row_starts: npt.NDArray[np.int32]) -> int:
    """Find the entries of a square CSR matrix that are of some rows and of the same columns.

    Parameters
    ----------
    starts : (V + 1,) array of int64
        Where each row's entries start.
    columns : (E,) array of int32
        Column of each entry.
    members : (S,) array of int64
        The rows, increasing.
    positions : array of int64
        Gets the positions of the entries found, row by row; long enough for all of the rows.
    numbers : array of int32
        Gets the number of each one's column among the members; as long.
    row_starts : (S + 1,) array of int32
        Gets where the entries of each member start.

    Returns
    -------
    int
        How many were found.
    """
    words = (len(starts) + 62) // 64
    own, before = np.zeros(words, dtype=np.uint64), np.empty(words, np.int32)
    one, six, low = uint64(1), uint64(6), uint64(63)

    def ones(word: np.uint64) -> np.int32:
        count = np.int32(0)
        while word:  # compiled to one instruction
            word &= word - one
            count += np.int32(1)
        return count

    for number in range(len(members)):
        vertex = uint64(members[number])
        if own[vertex >> six] == 0:
            before[vertex >> six] = number
        own[vertex >> six] |= one << (vertex & low)
    found = uint64(0)
    for row in range(len(members)):
        row_starts[row] = found
        member = uint64(members[row])
        for entry in range(starts[member], starts[member + one]):
            vertex = uint64(columns[uint64(entry)])
            bits, bit = own[vertex >> six], one << (vertex & low)
            if bits & bit:
                positions[found] = entry
                numbers[found] = before[vertex >> six] + ones(bits & (bit - one))
                found += one
    row_starts[len(members)] = found
    return int(found)
