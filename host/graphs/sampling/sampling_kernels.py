"""The hot loops of samplers, compiled.

A set of vertices is a word of bits for every 64 vertices of the graph, and how many members there
are before each word. So a vertex is looked up in two small tables, and members come in increasing
order without being sorted.
"""

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import FloatArray, IntArray
from hypercast.reference.kernels import kernel

__all__ = ["draw_candidates", "draw_neighbours", "find_entries", "relabel"]


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
        vertex = vertices[row]
        place, start = row_starts[row], starts[vertex]
        degree = starts[vertex + 1] - start
        if loops[vertex] != 0:
            drawn[place] = vertex
            drawn_weights[place] = loops[vertex]
            place += 1
        if degree <= fan_out:
            for entry in range(start, start + degree):
                drawn[place] = columns[entry]
                drawn_weights[place] = weights[entry]
                place += 1
            continue
        scale = degree / fan_out
        for step in range(fan_out):
            candidate = candidates[many, step]
            # Sorted: those of earlier steps are below the largest number of this one.
            at = step
            while at and chosen[at - 1] > candidate:
                at -= 1
            if at and chosen[at - 1] == candidate:
                chosen[step] = degree - fan_out + step
            else:
                for other in range(step, at, -1):
                    chosen[other] = chosen[other - 1]
                chosen[at] = candidate
        many += 1
        for step in range(fan_out):
            entry = start + chosen[step]
            drawn[place] = columns[entry]
            drawn_weights[place] = weights[entry] * scale
            place += 1


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
    one = np.uint64(1)

    def ones(word: np.uint64) -> np.int32:
        word = word - (word >> one & np.uint64(0x5555555555555555))
        word = (word & np.uint64(0x3333333333333333)) + (
            word >> np.uint64(2) & np.uint64(0x3333333333333333))
        word = word + (word >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
        return np.int32(word * np.uint64(0x0101010101010101) >> np.uint64(56))

    for vertex in destinations:
        own[vertex >> 6] |= one << np.uint64(vertex & 63)
    for vertex in columns:
        new[vertex >> 6] |= one << np.uint64(vertex & 63)
    count, found = np.int32(0), np.int32(len(destinations))
    for word in range(words):
        own_before[word], new_before[word] = count, found
        left = new[word] & ~own[word]
        new[word] = left
        count += ones(own[word])
        while left:
            lowest = left & (~left + one)
            sources[found] = (word << 6) + ones(lowest - one)
            found += 1
            left ^= lowest
    for number, vertex in enumerate(destinations):
        below = own[vertex >> 6] & ((one << np.uint64(vertex & 63)) - one)
        places[own_before[vertex >> 6] + ones(below)] = number
        sources[number] = vertex
    for entry, vertex in enumerate(columns):
        word, bit = vertex >> 6, one << np.uint64(vertex & 63)
        if own[word] & bit:
            columns[entry] = places[own_before[word] + ones(own[word] & (bit - one))]
        else:
            columns[entry] = new_before[word] + ones(new[word] & (bit - one))
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
    one = np.uint64(1)

    def ones(word: np.uint64) -> np.int32:
        word = word - (word >> one & np.uint64(0x5555555555555555))
        word = (word & np.uint64(0x3333333333333333)) + (
            word >> np.uint64(2) & np.uint64(0x3333333333333333))
        word = word + (word >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
        return np.int32(word * np.uint64(0x0101010101010101) >> np.uint64(56))

    for number, vertex in enumerate(members):
        if own[vertex >> 6] == 0:
            before[vertex >> 6] = number
        own[vertex >> 6] |= one << np.uint64(vertex & 63)
    found = 0
    for row in range(len(members)):
        row_starts[row] = found
        for entry in range(starts[members[row]], starts[members[row] + 1]):
            vertex = columns[entry]
            bits, bit = own[vertex >> 6], one << np.uint64(vertex & 63)
            if bits & bit:
                positions[found] = entry
                numbers[found] = before[vertex >> 6] + ones(bits & (bit - one))
                found += 1
    row_starts[len(members)] = found
    return found
