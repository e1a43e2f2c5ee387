"""What messages load: links, injection and ejection; and the bound on their cycles."""

from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import IntArray
from hypercast.rtl.config import Config
from hypercast.rtl.network import routing

__all__ = [
    "Bound", "Integers", "bound", "ejection_loads", "entered_cores", "injection_loads",
    "link_loads",
]


Integers: TypeAlias = npt.NDArray[np.integer[Any]]
Cores = TypeVar("Cores", bound=np.unsignedinteger[Any])


class Bound(NamedTuple):
    """The fewest cycles in which messages can be delivered.

    Attributes
    ----------
    cycles : float
        Load of the busiest resource.
    resource : str
        Which that is.
    """

    cycles: float
    resource: str


def entered_cores(destinations: npt.NDArray[Cores], plane: int,
                  dimensions: int) -> npt.NDArray[Cores]:
    """The cores that a message's flits enter: each over one link, so they stand for its links.

    Parameters
    ----------
    destinations : array of an unsigned type with ``2 ** dimensions`` bits or more
        Destinations relative to the source.
    plane : int
        Plane of all messages.
    dimensions : int
        Dimensions of the network.

    Returns
    -------
    numpy.ndarray
        Cores relative to the source, as ``destinations``.
    """
    held, entered = destinations, np.zeros_like(destinations)
    for dimension in reversed(routing.dimension_order(plane, dimensions)):
        step = destinations.dtype.type(1 << dimension)
        far = destinations.dtype.type(sum(
            1 << core for core in range(1 << dimensions) if core >> dimension & 1))
        entered |= held & far
        held = (held | held >> step) & ~far
    return entered


def link_loads(source: Integers, destinations: Integers, planes: Integers,
               dimensions: int) -> IntArray:
    """Flits that go along each link.

    Parameters
    ----------
    source, destinations, planes : (M,) array of int
        Sending core, destinations relative to it, and plane of each message.
    dimensions : int
        Dimensions of the network.

    Returns
    -------
    numpy.ndarray
        (cores, dimensions) int64, by sending core.
    """
    cores = 1 << dimensions
    core = np.arange(cores)
    loads = np.zeros((cores, dimensions), dtype=np.int64)
    for plane in np.flatnonzero(np.bincount(planes)).tolist():
        own = np.flatnonzero(planes == plane)
        entered = entered_cores(destinations[own].astype(np.uint64), plane, dimensions)
        counts = _count_bits(entered, source[own], cores, cores)
        for sender, dimension, _ in routing.broadcast_links(plane, dimensions):
            loads[core ^ sender, dimension] += counts[:, sender ^ 1 << dimension]
    return loads


def injection_loads(source: Integers, dimensions: int) -> IntArray:
    """Messages that each core injects: (cores,) int64."""
    return np.bincount(source, minlength=1 << dimensions)


def ejection_loads(source: Integers, destinations: Integers, planes: Integers,
                   config: Config) -> IntArray:
    """Flits that leave each ejection port: (cores, ``config.eject``) int64."""
    cores, core = config.cores, np.arange(config.cores)
    counts = _count_bits(
        destinations.astype(np.uint64), source * config.eject + planes % config.eject, cores,
        cores * config.eject).reshape(cores, config.eject, cores)
    loads = np.zeros((cores, config.eject), dtype=np.int64)
    for relative in range(cores):
        loads += counts[core ^ relative, :, relative]
    return loads


def _count_bits(words: npt.NDArray[np.uint64], group: Integers, bits: int, groups: int) -> IntArray:
    """How often each of the low bits is set in each group's words: (groups, bits) int64.

    From (M,) words of uint64, by the values of their octets.
    """
    octets = np.ascontiguousarray(words, dtype="<u8").view(np.uint8).reshape(-1, 8)
    digits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    key = group.astype(np.int64) << 8
    return np.concatenate([
        np.bincount(key | column, minlength=groups << 8).reshape(groups, 256) @ digits
        for column in octets.T[:-(-bits // 8)]], axis=1)[:, :bits]


def bound(source: Integers, destinations: Integers, planes: Integers, config: Config) -> Bound:
    """The bound that injection, ejection and links set.

    Ejection counts a core's ports together: that a plane is tied to a port is the design's choice,
    not a law. The links' loads are those of the planes chosen.

    Parameters
    ----------
    source, destinations, planes : (M,) array of int
        Sending core, destinations relative to it, and plane of each message.
    config : Config
        Configuration of the chip.

    Returns
    -------
    Bound
        Cycles, and the resource that sets them.
    """
    injection = injection_loads(source, config.dimensions)
    ejection = ejection_loads(source, destinations, planes, config).sum(axis=1) / config.eject
    links = link_loads(source, destinations, planes, config.dimensions)
    bounds = [Bound(float(injection.max()), f"injection of core {injection.argmax()}"),
              Bound(float(ejection.max()), f"ejection of core {ejection.argmax()}")]
    if links.size:
        core, dimension = np.unravel_index(links.argmax(), links.shape)
        bounds.append(Bound(float(links.max()), f"link of core {core} along dimension {dimension}"))
    return max(bounds, key=lambda one: one.cycles)
