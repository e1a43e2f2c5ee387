# SPDX-License-Identifier: BSD-2-Clause
"""The hot loops of the choice of planes, compiled; ``plane_choice`` says what they do and why.

Loads of eight cores' links are the bytes of a word. A set of cores, eight bits of it at a time,
gives a word that keeps some of them, and their sum is found without going through the set.
"""

from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hypercast.reference.kernels import Kernel, kernel

__all__ = ["placing_kernel"]

#: Messages of one core that are placed at the same time, without regard to each other.
_ROUND = 4
#: Rounds of a segment, at most.
_SEGMENT = 32
#: Binary digits of a flit's load, and what a round leaves of the loads before it, in 16ths.
_FLIT, _MEMORY = 4, 13
#: How much the plane whose turn it is may be worse, per link, in flits.
_TURN = 2
#: Flits of a load that count at most; a load is a byte.
_MOST = 127

_Placing: TypeAlias = Kernel[[
    npt.NDArray[np.uint8], npt.NDArray[np.uint64], npt.NDArray[np.uint16], npt.NDArray[np.uint64],
    npt.NDArray[np.uint64], int, npt.NDArray[np.uint8]], None]


@cache
def placing_kernel(parts: int) -> _Placing:
    """The function ``place_messages`` for sets of cores of so many bytes: 2, 4 or 8."""

    @kernel("void(in1(uint8), in1(uint64), in3(uint16), in3(uint64), in1(uint64), int64, "
            "uint8[::1])")
    def place_messages(senders: npt.NDArray[np.uint8], destinations: npt.NDArray[np.uint64],
                       ways: npt.NDArray[np.uint16], trees: npt.NDArray[np.uint64],
                       members: npt.NDArray[np.uint64], ports: int,
                       chosen: npt.NDArray[np.uint8]) -> None:
        """Give each message the plane that costs least, round by round.

        Parameters
        ----------
        senders : (M,) array of uint8
            Sending core of each message.
        destinations : (M,) array of uint64
            Destinations of each message, relative to its core; one without any is not sent.
        ways : (planes, cores, 6) array of uint16
            Links of a plane's flits on the way to each core, relative to the source, the last one
            first: the dimension along which a core is entered, times the cores, plus that core.
            Behind them, the dimensions times the cores.
        trees : (parts, 256, planes) array of uint64
            Cores that a plane's flits enter on the way to a set of cores, relative to the source,
            by each byte of the set.
        members : (256,) array of uint64
            For each byte of a set of cores, a word whose bytes are 255 for its members, else 0.
        ports : int
            Ejection ports of a core that planes can differ in.
        chosen : (M,) array of uint8
            Zeros; gets the planes of messages that are sent.
        """
        planes, cores, _ = ways.shape
        counts = np.zeros(cores, dtype=np.int64)
        for message in range(len(senders)):
            counts[senders[message]] += destinations[message] != 0
        count = counts.max()
        if count == 0:
            return
        # A core's messages are dealt to rows; what is not sent takes none.
        dealt = np.full((count, cores), -1, dtype=np.int64)
        counts[:] = 0
        for message in range(len(senders)):
            if destinations[message]:
                sender = senders[message]
                dealt[counts[sender], sender] = message
                counts[sender] += 1
        rounds = (count + _ROUND - 1) // _ROUND
        segments = (rounds + _SEGMENT - 1) // _SEGMENT
        segment = (rounds + segments - 1) // segments
        dimensions = np.int64(np.log2(cores))
        byte, eight, even = np.uint64(255), np.uint64(8), np.uint64(0x00FF00FF00FF00FF)

        def size(word: np.uint64) -> np.uint64:
            count = np.uint64(0)
            while word:  # compiled to one instruction
                word &= word - np.uint64(1)
                count += np.uint64(1)
            return count

        def lowest(word: np.uint64) -> np.uint64:
            return size((word & (~word + np.uint64(1))) - np.uint64(1))

        # Of links, of what is no link and costs nothing, and of ports. A core's number changes the
        # low bits of a place only, so cores that are relative to it become others by an exclusive
        # or.
        none, places = dimensions * cores, (dimensions + 1 + ports) * cores
        port_of = np.zeros(planes, dtype=np.uint64)
        for plane in range(planes if ports else 0):
            port_of[plane] = none + (1 + plane % ports) * cores
        loads, flits = np.zeros(places, dtype=np.int32), np.zeros(places, dtype=np.uint8)
        lengths = np.zeros((planes, cores), dtype=np.int64)
        for plane in range(planes):
            for core in range(cores):
                for hop in range(6):
                    lengths[plane, core] += ways[plane, core, hop] < none
        far = parts > 2  # there are four hops in most networks, up to six in the largest
        # Flits of the links of each plane and of each port, by the core they are relative to.
        relative_flits = np.zeros((planes + ports, cores, 8 * parts), dtype=np.uint8)
        words = relative_flits.view(np.uint64)
        for first in range(0, count, _ROUND):
            if first // _ROUND % segment == 0:
                loads[:] = 0
            for place in range(places):
                load = loads[place] * _MEMORY >> 4
                loads[place] = load
                flits[place] = min(load >> _FLIT, _MOST)
            flits[none:none + cores] = 0
            for kind in range(planes + ports):
                for core in range(cores):
                    base = np.int64(ways[kind, core, 0]) if kind < planes else np.int64(
                        none + (1 + kind - planes) * cores + core)
                    for sender in range(cores):
                        relative_flits[kind, sender, core] = flits[np.uint64(base ^ sender)]
            for number in range(first, min(first + _ROUND, count)):
                favoured = (number - first - 1) % planes
                for sender in range(cores):
                    favoured = favoured + 1 if favoured + 1 < planes else 0
                    message = dealt[number, sender]
                    if message < 0:
                        continue
                    aim, own = destinations[np.uint64(message)], np.uint64(sender)
                    best, least, taken = 0, np.int64(1 << 30), np.uint64(0)
                    if aim & (aim - np.uint64(1)) == 0:  # a single one, as most have
                        relative = lowest(aim)
                        for plane in range(planes):
                            entries, met = lengths[plane, relative], np.int64(0)
                            for hop in range(4):
                                met += flits[ways[plane, relative, hop] ^ own]
                            if far:
                                met += flits[ways[plane, relative, 4] ^ own]
                                met += flits[ways[plane, relative, 5] ^ own]
                            if ports:
                                met += flits[port_of[plane] + (own ^ relative)]
                            cost = entries + 2 * met
                            if plane == favoured:
                                cost -= _TURN * entries + 1
                            if cost < least:
                                best, least = plane, cost
                        for hop in range(4):
                            loads[ways[best, relative, hop] ^ own] += 1 << _FLIT
                        if far:
                            loads[ways[best, relative, 4] ^ own] += 1 << _FLIT
                            loads[ways[best, relative, 5] ^ own] += 1 << _FLIT
                        if ports:
                            loads[port_of[best] + (own ^ relative)] += 1 << _FLIT
                        chosen[np.uint64(message)] = best
                        continue
                    for plane in range(planes):
                        entered = np.uint64(0)
                        for part in range(parts):
                            entered |= trees[part, aim >> eight * np.uint64(part) & byte, plane]
                        # Four sums, of two bytes each.
                        sums = np.uint64(0)
                        for part in range(parts):
                            seen = words[plane, own, part] & members[
                                entered >> eight * np.uint64(part) & byte]
                            sums += (seen & even) + (seen >> eight & even)
                        if ports:
                            for part in range(parts):
                                seen = words[planes + plane % ports, own, part] & members[
                                    aim >> eight * np.uint64(part) & byte]
                                sums += (seen & even) + (seen >> eight & even)
                        entries = np.int64(size(entered))
                        cost = entries + 2 * np.int64(
                            sums * np.uint64(0x0001000100010001) >> np.uint64(48))
                        if plane == favoured:
                            cost -= _TURN * entries + 1
                        if cost < least:
                            best, least, taken = plane, cost, entered
                    while taken:
                        relative = lowest(taken)
                        taken &= taken - np.uint64(1)
                        loads[ways[best, relative, 0] ^ own] += 1 << _FLIT
                    left = aim if ports else np.uint64(0)
                    while left:
                        relative = lowest(left)
                        left &= left - np.uint64(1)
                        loads[port_of[best] + (own ^ relative)] += 1 << _FLIT
                    chosen[np.uint64(message)] = best

    return place_messages
