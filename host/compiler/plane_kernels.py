"""The hot loops of the choice of planes, compiled; ``plane_choice`` says what they do and why."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import IntArray
from hypercast.reference.kernels import kernel

__all__ = ["ROUND", "collect_planes", "deal_messages", "place_messages"]

#: Messages of one core that are placed at the same time, without regard to each other.
ROUND = 4
#: Binary digits of a flit's load, and what a round leaves of the loads before it, in 16ths.
_FLIT, _MEMORY = 4, 13
#: How much the plane whose turn it is may be worse, per link, in flits.
_TURN = 2
#: Flits of a load that count at most.
_MOST = 127


@kernel("void(in1(uint8), in1(uint64), int64[::1], uint64[:, ::1])")
def deal_messages(source: npt.NDArray[np.uint8], destinations: npt.NDArray[np.uint64],
                  counts: IntArray, aims: npt.NDArray[np.uint64]) -> None:
    """Deal messages to their cores, but for those without destinations.

    Parameters
    ----------
    source : (M,) array of uint8
        Sending core of each message.
    destinations : (M,) array of uint64
        Destinations of each message.
    counts : (cores,) array of int64
        Zeros; gets how many messages each core has.
    aims : (messages of the busiest core, cores) array of uint64
        Zeros; gets the destinations.
    """
    for message in range(len(source)):
        if destinations[message]:
            core = source[message]
            aims[counts[core], core] = destinations[message]
            counts[core] += 1


@kernel("void(in1(uint8), in1(uint64), int64[::1], in2(uint8), int64[::1])")
def collect_planes(source: npt.NDArray[np.uint8], destinations: npt.NDArray[np.uint64],
                   counts: IntArray, chosen: npt.NDArray[np.uint8], planes: IntArray) -> None:
    """The way back from ``deal_messages``.

    Parameters
    ----------
    source, destinations
        As there.
    counts : (cores,) array of int64
        Zeros.
    chosen : (messages of the busiest core, cores) array of uint8
        Planes.
    planes : (M,) array of int64
        Zeros; gets the planes of messages with destinations.
    """
    for message in range(len(source)):
        if destinations[message]:
            core = source[message]
            planes[message] = chosen[counts[core], core]
            counts[core] += 1


@kernel("void(in2(uint64), in2(uint8), in2(uint64), int64, int64, uint8[:, ::1])")
def place_messages(aims: npt.NDArray[np.uint64], entries: npt.NDArray[np.uint8],
                   paths: npt.NDArray[np.uint64], ports: int, segment: int,
                   chosen: npt.NDArray[np.uint8]) -> None:
    """Give each message the plane that costs least, round by round.

    Parameters
    ----------
    aims : (messages of the busiest core, cores) array of uint64
        Destinations of each message, relative to its core; 0 where there is none.
    entries : (planes, cores) array of uint8
        Dimension along which a plane's flits enter each core, relative to the source.
    paths : (planes, cores) array of uint64
        Cores that a plane's flits enter on the way to each core, relative to the source.
    ports : int
        Ejection ports of a core that planes can differ in.
    segment : int
        Rounds of a segment.
    chosen : (messages of the busiest core, cores) array of uint8
        Gets the planes.
    """
    count, cores = aims.shape
    planes, dimensions = len(paths), np.int64(np.log2(cores))
    # The lowest bit that is set, times this, has its number in the upper six bits.
    product = np.uint64(0x03F79D71B4CB0A89)
    numbers = np.zeros(64, dtype=np.uint8)
    for bit in range(64):
        numbers[np.int64(product << np.uint64(bit) >> np.uint64(58))] = bit

    def lowest(word: np.uint64) -> Any:
        return numbers[np.int64((word & (~word + np.uint64(1))) * product >> np.uint64(58))]

    loads = np.zeros((dimensions + ports, cores), dtype=np.int32)
    flits = np.zeros((dimensions + ports, cores), dtype=np.int32)
    entered = np.zeros(planes, dtype=np.uint64)
    ejected = np.zeros(max(ports, 1), dtype=np.int32)
    for first in range(0, count, ROUND):
        if first // ROUND % segment == 0:
            loads[:] = 0
        for place in range(dimensions + ports):
            for core in range(cores):
                load = loads[place, core] * _MEMORY >> 4
                loads[place, core] = load
                flits[place, core] = min(load >> _FLIT, _MOST)
        for number in range(first, min(first + ROUND, count)):
            for core in range(cores):
                aim = aims[number, core]
                if aim == 0:
                    continue
                entered[:] = 0
                ejected[:] = 0
                left = aim
                while left:
                    relative = lowest(left)
                    left &= left - np.uint64(1)
                    for plane in range(planes):
                        entered[plane] |= paths[plane, relative]
                    for port in range(ports):
                        ejected[port] += flits[dimensions + port, core ^ relative]
                best, least = 0, 1 << 30
                favoured = (number - first + core) % planes
                for plane in range(planes):
                    links, met = 0, 0
                    left = entered[plane]
                    while left:
                        relative = lowest(left)
                        left &= left - np.uint64(1)
                        met += flits[entries[plane, relative], core ^ relative]
                        links += 1
                    if ports:
                        met += ejected[plane % ports]
                    cost = links + 2 * met
                    if plane == favoured:
                        cost -= _TURN * links + 1
                    if cost < least:
                        best, least = plane, cost
                chosen[number, core] = best
                left = entered[best]
                while left:
                    relative = lowest(left)
                    left &= left - np.uint64(1)
                    loads[entries[best, relative], core ^ relative] += 1 << _FLIT
                left = aim if ports else np.uint64(0)
                while left:
                    relative = lowest(left)
                    left &= left - np.uint64(1)
                    loads[dimensions + best % ports, core ^ relative] += 1 << _FLIT
