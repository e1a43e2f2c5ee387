"""Chooses the plane of each message, so that links and ejection ports share the load.

The messages are known in advance, and the cores send at about the same rate, so the compiler knows
roughly which are under way together. It goes through them in that order and gives each the plane
whose links and ejection ports were used least of late, unless taking the planes in turn is nearly
as good. All arithmetic is in integers: the choice is the same on every machine.

What was used long ago does not matter, so the messages are cut into segments, and all segments are
gone through side by side. Sets of cores, and the loads' binary digits, are held as words of a bit
per core: the load a message would meet is a sum of population counts.
"""

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from hypercast.host.compiler.network_loads import entered_cores
from hypercast.reference.array_types import IntArray
from hypercast.rtl.config import Config
from hypercast.rtl.network import routing

__all__ = ["choose_planes"]

#: Words of a bit per core.
Cores: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]

#: Messages of one core that are placed at the same time, without regard to each other.
_ROUND = 4
#: Rounds of a segment, and messages of the segments that are gone through side by side.
_SEGMENT, _BATCH = 32, 1 << 17
#: Load of one flit, and what a round leaves of the loads before it, in 16ths.
_FLIT, _MEMORY = 16, 13
#: How much the plane whose turn it is may be worse, per link, in flits.
_TURN = 2
#: Binary digits of a load in flits; more than fits counts as what does. Costs then fit 16 bits.
_DIGITS = 7


def choose_planes(source: npt.NDArray[np.integer[Any]], destinations: npt.NDArray[np.uint64],
                  config: Config) -> IntArray:
    """The plane of each message. Takes time linear in the number of the busiest core's messages.

    Parameters
    ----------
    source : (M,) array of int
        Sending core; each sends its messages in this order.
    destinations : (M,) array of uint64
        Destinations relative to it; a message without any takes no turn and gets plane 0.
    config : Config
        Configuration of the chip.

    Returns
    -------
    numpy.ndarray
        (M,) int64, 0 to ``config.planes - 1``.
    """
    planes = np.zeros(len(source), dtype=np.int64)
    sent = np.flatnonzero(destinations)
    if config.planes == 1 or not len(sent):
        return planes
    cores = config.cores
    number, most = _numbers(source[sent], cores)
    rounds = -(-most // _ROUND)
    segments = -(-rounds // _SEGMENT)
    shape = (segments, -(-rounds // segments), _ROUND, cores)
    place = number * cores + source[sent]
    dealt = np.zeros(shape, dtype=f"u{max(8, cores) // 8}")
    dealt.reshape(-1)[place] = destinations[sent]
    chosen = np.empty(shape, dtype=np.uint8)
    network = _Network.of(config)
    together = max(1, _BATCH * segments // dealt.size)
    for first in range(0, segments, together):
        batch = slice(first, first + together)
        # Segments come last, so that every operation runs along them.
        result = _place(np.ascontiguousarray(np.moveaxis(dealt[batch], 0, -1)), network)
        chosen[batch] = np.moveaxis(result, -1, 0)
    planes[sent] = chosen.reshape(-1)[place]
    return planes


def _numbers(source: npt.NDArray[np.integer[Any]], cores: int) -> tuple[IntArray, int]:
    """Each message's number among those of its core, and how many the busiest core has."""
    order = np.argsort(source.astype(np.uint8), kind="stable")
    counts = np.bincount(source, minlength=cores)
    number = np.empty(len(source), dtype=np.int64)
    number[order] = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
    return number, int(counts.max())


@dataclass(frozen=True, kw_only=True)
class _Network:
    """A network's constants.

    Parameters
    ----------
    dimensions, planes, cores : int
        Sizes of the network.
    ports : int
        Ejection ports of a core that planes can differ in.
    entered : (dimensions, planes, 1, 1, 1) numpy.ndarray
        The cores a plane's flits enter along each dimension, relative to the source.
    """

    dimensions: int
    planes: int
    cores: int
    ports: int
    entered: Cores

    @classmethod
    def of(cls, config: Config) -> Self:
        """The network of a chip of ``config``."""
        dimensions, planes, cores = config.dimensions, config.planes, config.cores
        word = f"u{max(8, cores) // 8}"
        entered = np.zeros((dimensions, planes), dtype=word)
        for plane in range(planes):
            for sender, dimension, _ in routing.broadcast_links(plane, dimensions):
                entered[dimension, plane] |= 1 << (sender ^ 1 << dimension)
        return cls(dimensions=dimensions, planes=planes, cores=cores,
                   ports=config.eject if config.eject > 1 else 0,
                   entered=entered[..., None, None, None])

    def visited(self, destinations: Cores) -> Cores:
        """The cores that flits enter on the way to destinations, in every plane (first axis)."""
        return np.stack([entered_cores(destinations, plane, self.dimensions)
                         for plane in range(self.planes)])

    def relative(self, words: Cores) -> Cores:
        """Words (..., segments) of bits per core, as each core sees them: (..., cores, segments).

        Bit ``k`` of a core is the one of the core at address ``core XOR k``.
        """
        words = words[..., None, :]
        for dimension in range(self.dimensions):
            across = routing.hop(words, dimension, self.dimensions)
            words = np.concatenate([words, across], axis=-2)
        return words

    def absolute(self, words: Cores) -> Cores:
        """Words (..., cores, segments) relative to each core become those relative to core 0."""
        for dimension in range(self.dimensions):
            shape = (*words.shape[:-2], -1, 2, 1 << dimension, words.shape[-1])
            across = words.reshape(shape)[..., 1, :, :]
            across[...] = routing.hop(across, dimension, self.dimensions)
        return words


def _place(destinations: Cores, network: _Network) -> npt.NDArray[np.uint8]:
    """Planes of messages (rounds, messages of a round, cores, segments), round by round."""
    _, count, cores, segments = destinations.shape
    visited = network.visited(destinations)
    plane = np.arange(network.planes, dtype=np.uint8)[:, None, None, None]
    turn = (np.arange(count)[:, None] + np.arange(cores)) % network.planes
    links = np.bitwise_count(visited).astype(np.int16)
    favoured = (turn[..., None] == plane)[:, None]
    costs = links - favoured * (_TURN * links + np.int16(1))
    loads = np.zeros((network.dimensions + network.ports, segments, cores), dtype=np.int64)
    chosen = np.empty(destinations.shape, dtype=np.uint8)
    for index, aims in enumerate(destinations):
        loads = loads * _MEMORY >> 4
        cost = costs[:, index] + _met(loads, visited[:, index], aims, network)
        lowest = cost[0]
        best = chosen[index]
        best[...] = 0
        for other in range(1, network.planes):
            best[cost[other] < lowest] = other
            lowest = np.minimum(lowest, cost[other])
        taken = visited[:, index] * (best == plane)
        used = np.empty((len(loads), *aims.shape), dtype=aims.dtype)
        for dimension, entered in enumerate(network.entered):
            np.bitwise_or.reduce(taken & entered, axis=0, out=used[dimension])
        for port in range(network.ports):
            used[network.dimensions + port] = aims * (best % network.ports == port)
        loads += _FLIT * _count(network.absolute(used), cores)
    return chosen


def _met(loads: IntArray, visited: Cores, aims: Cores, network: _Network) -> npt.NDArray[np.int16]:
    """Twice the load of the places that messages would use in each plane, in flits."""
    digit = np.uint8(1) << np.arange(_DIGITS, dtype=np.uint8)[::-1]
    flits = np.minimum(loads // _FLIT, (1 << _DIGITS) - 1).astype(np.uint8)
    digits = np.packbits(flits & digit[:, None, None, None], axis=-1, bitorder="little")
    words = network.relative(digits.view(aims.dtype)[..., 0])
    met = np.zeros(visited.shape, dtype=np.int16)
    for word in words:
        loaded = np.zeros((network.planes, 1, *aims.shape[1:]), dtype=aims.dtype)
        for dimension, entered in enumerate(network.entered):
            loaded |= word[dimension] & entered
        met += np.bitwise_count(visited & loaded)
        if network.ports:
            ports = np.bitwise_count(aims & word[network.dimensions:, None])
            met += np.tile(ports, (network.planes // network.ports, 1, 1, 1))
        met <<= 1
    return met


def _count(words: Cores, cores: int) -> npt.NDArray[np.uint16]:
    """How many of the words (places, messages, senders, segments) have each core's bit set."""
    places, count, senders, segments = words.shape
    bits = np.unpackbits(words[..., None].view(np.uint8), axis=-1, bitorder="little")
    counts: npt.NDArray[np.uint16] = bits.reshape(
        places, count * senders, segments, bits.shape[-1])[..., :cores].sum(axis=1, dtype=np.uint16)
    return counts
