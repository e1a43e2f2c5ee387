# SPDX-License-Identifier: BSD-2-Clause
"""The hot loops of what messages load, compiled; ``network_loads`` says what they count."""

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import IntArray
from hypercast.reference.kernels import kernel

__all__ = ["count_bits", "enter_cores"]


@kernel("void(in1(uint64), in1(int64), int64, uint64[::1])")
def enter_cores(destinations: npt.NDArray[np.uint64], planes: IntArray, dimensions: int,
                entered: npt.NDArray[np.uint64]) -> None:
    """Find the cores that messages' flits enter.

    Parameters
    ----------
    destinations : (M,) array of uint64
        Destinations of each message, relative to its source.
    planes : (M,) array of int64
        Plane of each message.
    dimensions : int
        Dimensions of the network.
    entered : (M,) array of uint64
        Gets the cores, relative to the source.
    """
    far = np.zeros(dimensions, dtype=np.uint64)
    for core in range(1 << dimensions):
        for dimension in range(dimensions):
            far[dimension] |= np.uint64(core >> dimension & 1) << np.uint64(core)
    for message in range(len(destinations)):
        held, found = destinations[message], np.uint64(0)
        for position in range(dimensions - 1, -1, -1):
            dimension = (planes[message] + position) % dimensions
            found |= held & far[dimension]
            held = (held | held >> np.uint64(1 << dimension)) & ~far[dimension]
        entered[message] = found


@kernel("void(in1(uint64), in1(int64), int64[:, ::1])")
def count_bits(words: npt.NDArray[np.uint64], groups: IntArray, counts: IntArray) -> None:
    """Count how often each of the low bits is set in the words of groups.

    Parameters
    ----------
    words : (M,) array of uint64
        Words.
    groups : (M,) array of int64
        Group of each.
    counts : (groups, bits) array of int64
        Zeros; gets the counts.
    """
    for number in range(len(words)):
        word, group = words[number], groups[number]
        for bit in range(counts.shape[1]):
            counts[group, bit] += np.int64(word >> np.uint64(bit) & np.uint64(1))
