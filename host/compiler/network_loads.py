# SPDX-License-Identifier: BSD-2-Clause
"""Loads of messages on links, injection and ejection; and the bound on their cycles."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from hypercast.host.compiler.load_kernels import count_bits, enter_cores
from hypercast.reference.array_types import IntArray
from hypercast.rtl.config import Config
from hypercast.rtl.network import routing

__all__ = [
    "Bound", "Integers", "bound_traffic", "ejection_loads", "entered_cores", "injection_loads",
    "link_loads",
]


Integers: TypeAlias = npt.NDArray[np.integer[Any]]


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


def entered_cores(destinations: Integers, planes: Integers,
                  dimensions: int) -> npt.NDArray[np.uint64]:
    """The cores that messages' flits enter: each over one link, so they stand for its links.

    Parameters
    ----------
    destinations, planes : (M,) array of int
        Destinations relative to the source, and plane of each message.
    dimensions : int
        Dimensions of the network.

    Returns
    -------
    numpy.ndarray
        Cores relative to the source: (M,) uint64.
    """
    entered = np.empty(len(destinations), dtype=np.uint64)
    enter_cores(np.ascontiguousarray(destinations, dtype=np.uint64),
                np.ascontiguousarray(planes, dtype=np.int64), dimensions, entered)
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
    counts = np.zeros((int(planes.max(initial=0)) + 1, cores, cores), dtype=np.int64)
    count_bits(entered_cores(destinations, planes, dimensions),
               planes.astype(np.int64) * cores + source, counts.reshape(-1, cores))
    for plane, entered in enumerate(counts):
        for sender, dimension, _ in routing.broadcast_links(plane, dimensions):
            loads[core ^ sender, dimension] += entered[:, sender ^ 1 << dimension]
    return loads


def injection_loads(source: Integers, dimensions: int) -> IntArray:
    """Messages that each core injects: (cores,) int64."""
    return np.bincount(source, minlength=1 << dimensions)


def ejection_loads(source: Integers, destinations: Integers, planes: Integers,
                   config: Config) -> IntArray:
    """Flits that leave each ejection port: (cores, ``config.eject``) int64."""
    cores, core = config.cores, np.arange(config.cores)
    counts = np.zeros((cores, config.eject, cores), dtype=np.int64)
    count_bits(np.ascontiguousarray(destinations, dtype=np.uint64),
               source.astype(np.int64) * config.eject + planes % config.eject,
               counts.reshape(-1, cores))
    loads = np.zeros((cores, config.eject), dtype=np.int64)
    for relative in range(cores):
        loads += counts[core ^ relative, :, relative]
    return loads


def bound_traffic(source: Integers, destinations: Integers, planes: Integers,
                  config: Config) -> Bound:
    """The bound that injection, ejection and links set.

    Ejection counts a core's ports together: that a plane is tied to a port is the design's choice,
    not a law. The links' loads are for the planes chosen.

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
