# SPDX-License-Identifier: BSD-2-Clause
"""Traffic patterns: who sends how many messages where.

The permutations are from Dally and Towles, Principles and Practices of Interconnection Networks,
2004, section 3.2, on the cores' addresses.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.errors import InputError
from hypercast.rtl.placement import core_of

__all__ = ["PATTERNS", "PatternError", "Traffic", "creation_cycles", "graph_traffic",
           "pattern_traffic"]

#: Patterns by name, and what they are.
PATTERNS = {
    "unicast": "to one other core, at random",
    "random2": "to 2 other cores, at random",
    "random4": "to 4 other cores, at random",
    "random8": "to 8 other cores, at random",
    "broadcast": "to all other cores",
    "hotspot": "a quarter to core 0, the rest to one other core, at random",
    "complement": "to the core with the complement of the address",
    "neighbour": "to a neighbour, at random",
    "tornado": "to the core just less than half way round the ring of addresses",
    "transpose": "to the core with the halves of the address swapped",
}

_HOT = 0.25
#: Messages per core and cycle; with fewer, a simulation would not end.
_LEAST_RATE = 1e-6


class PatternError(InputError):
    """A pattern that does not exist, or not on a network of that size."""


class Traffic(NamedTuple):
    """Messages; each core sends its own in the order in which they are here.

    Attributes
    ----------
    source : (M,) numpy.ndarray of int64
        Sending core.
    destinations : (M,) numpy.ndarray of uint64
        Destinations relative to it: bit ``k`` is core ``source XOR k``.
    """

    source: npt.NDArray[np.int64]
    destinations: npt.NDArray[np.uint64]


def pattern_traffic(name: str, dimensions: int, messages: int, seed: int = 0) -> Traffic:
    """The traffic of a named pattern.

    Parameters
    ----------
    name : str
        A key of ``PATTERNS``.
    dimensions : int
        Dimensions of the network.
    messages : int
        Number that each core sends.
    seed : int
        Seed of what is at random.

    Returns
    -------
    Traffic
        ``messages * 2**dimensions`` messages, the cores in turn.

    Raises
    ------
    PatternError
        If there is no such pattern, or the network is too small for it.
    """
    if name not in PATTERNS:
        raise PatternError(f"there is no pattern {name!r}; there are {', '.join(PATTERNS)}")
    cores = 1 << dimensions
    generator = np.random.default_rng(seed)
    source = np.tile(np.arange(cores), messages)
    if name.startswith("random"):
        count = int(name.removeprefix("random"))
        _require(cores > count, name, dimensions, f"at least {count.bit_length()} dimensions")
        return Traffic(source, _random_destinations(len(source), count, cores, generator))
    _require(dimensions >= 1, name, dimensions, "at least 1 dimension")
    if name == "broadcast":
        return Traffic(source, np.full(len(source), (1 << cores) - 2, dtype=np.uint64))
    return Traffic(source, _bit(_relative_target(name, source, dimensions, generator)))


def _require(condition: bool, name: str, dimensions: int, needed: str) -> None:
    if not condition:
        raise PatternError(f"pattern {name} needs {needed}, not {dimensions}")


def _bit(relative: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    return np.uint64(1) << np.asarray(relative).astype(np.uint64)


def _random_destinations(messages: int, count: int, cores: int,
                  generator: np.random.Generator) -> npt.NDArray[np.uint64]:
    """Sets with ``count`` bits each, never bit 0."""
    draws = generator.random((messages, cores - 1))
    chosen = np.argpartition(draws, count - 1, axis=1)[:, :count] + 1
    destinations: npt.NDArray[np.uint64] = np.bitwise_or.reduce(_bit(chosen), axis=1)
    return destinations


def _relative_target(name: str, source: npt.NDArray[np.int64], dimensions: int,
                     generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """The one destination of each message, relative to its source."""
    cores = 1 << dimensions
    if name == "complement":
        return np.full(len(source), cores - 1)
    if name == "neighbour":
        return 1 << generator.integers(0, dimensions, len(source))
    if name == "tornado":
        _require(dimensions >= 2, name, dimensions, "at least 2 dimensions")
        return source ^ (source + cores // 2 - 1) % cores
    if name == "transpose":
        _require(dimensions % 2 == 0, name, dimensions, "an even number of dimensions")
        half = dimensions // 2
        return source ^ (source >> half | source << half & cores - 1)
    relative = generator.integers(1, cores, len(source))
    if name == "hotspot":
        hot = (generator.random(len(source)) < _HOT) & (source != 0)
        relative = np.where(hot, source, relative)
    return relative


def graph_traffic(matrix: scipy.sparse.csr_array, dimensions: int, panels: int = 1) -> Traffic:
    """The messages of an aggregation, as ``host.messages`` compiles them.

    Parameters
    ----------
    matrix : (V, V) scipy.sparse array
        Adjacency, rows and columns in rank order; row i holds the edges towards vertex i. Its
        transpose gives the messages of the backward pass.
    dimensions : int
        Dimensions of the network.
    panels : int
        Panels of ``lanes`` features that the aggregated layer has; each is sent in turn.
    """
    cores = 1 << dimensions
    entries = matrix.tocoo()
    relative = core_of(entries.row, cores) ^ core_of(entries.col, cores)
    destinations = np.zeros(matrix.shape[1], dtype=np.uint64)
    np.bitwise_or.at(destinations, entries.col, _bit(relative))
    sent = np.flatnonzero(destinations)
    return Traffic(np.tile(core_of(sent, cores).astype(np.int64), panels),
                   np.tile(destinations[sent], panels))


def creation_cycles(source: npt.NDArray[np.int64], rate: float,
                    seed: int = 0) -> npt.NDArray[np.int64]:
    """Cycles in which the messages of an open loop are created.

    Parameters
    ----------
    source : (M,) array of int
        Sending core of each message.
    rate : float
        Probability, 1e-6 to 1, with which a core creates a message in a cycle.
    seed : int
        Seed of the process.

    Returns
    -------
    numpy.ndarray
        (M,) int64, in order for each source.
    """
    if not _LEAST_RATE <= rate <= 1:
        raise PatternError(f"rate must be {_LEAST_RATE} to 1 messages per core and cycle, not "
                           f"{rate}")
    generator = np.random.default_rng(seed)
    created = np.zeros(len(source), dtype=np.int64)
    for core in np.unique(source):
        own = np.flatnonzero(source == core)
        created[own] = np.cumsum(generator.geometric(rate, len(own))) - 1
    return created
