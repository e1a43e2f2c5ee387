"""What messages load: links, injection and ejection; and the bound on their cycles."""

from typing import NamedTuple

import numpy as np

from hypercast.rtl.network import routing

__all__ = ["Bound", "bound", "ejection_loads", "injection_loads", "link_loads"]


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


def link_loads(source, mask, planes, dimensions):
    """Flits that go along each link.

    Takes a fraction of a second for a million messages on 64 cores.

    Parameters
    ----------
    source, mask, planes : (M,) array of int
        Sending core, destinations relative to it, and plane of each message.
    dimensions : int
        Of the network.

    Returns
    -------
    numpy.ndarray
        (cores, dimensions) int64, by sending core.
    """
    cores = 1 << dimensions
    loads = np.zeros((cores, dimensions), dtype=np.int64)
    for plane in np.unique(planes):
        own = np.flatnonzero(planes == plane)
        sources, masks = source[own], mask[own].astype(np.uint64)
        for sender, dimension, beyond in routing.broadcast_links(int(plane), dimensions):
            used = sources[masks & np.uint64(beyond) != 0]
            loads[:, dimension] += np.bincount(used ^ sender, minlength=cores)
    return loads


def injection_loads(source, dimensions):
    """Messages that each core injects: (cores,) int64."""
    return np.bincount(source, minlength=1 << dimensions)


def ejection_loads(source, mask, planes, config):
    """Flits that leave each ejection port: (cores, ``config.eject``) int64."""
    loads = np.zeros((config.cores, config.eject), dtype=np.int64)
    port = planes % config.eject
    for relative in range(config.cores):
        got = np.flatnonzero(mask.astype(np.uint64) >> np.uint64(relative) & np.uint64(1))
        np.add.at(loads, (source[got] ^ relative, port[got]), 1)
    return loads


def bound(source, mask, planes, config):
    """The bound that injection, ejection and links set.

    Ejection counts a core's ports together: that a plane is tied to a port is the design's choice,
    not a law. The links' loads are those of the planes chosen.

    Parameters
    ----------
    source, mask, planes : (M,) array of int
        Sending core, destinations relative to it, and plane of each message.
    config : Config
        Configuration of the chip.

    Returns
    -------
    Bound
        Cycles, and the resource that sets them.
    """
    injection = injection_loads(source, config.dimensions)
    ejection = ejection_loads(source, mask, planes, config).sum(axis=1) / config.eject
    links = link_loads(source, mask, planes, config.dimensions)
    bounds = [Bound(float(injection.max()), f"injection of core {injection.argmax()}"),
              Bound(float(ejection.max()), f"ejection of core {ejection.argmax()}")]
    if links.size:
        core, dimension = np.unravel_index(links.argmax(), links.shape)
        bounds.append(Bound(float(links.max()), f"link of core {core} along dimension {dimension}"))
    return max(bounds, key=lambda one: one.cycles)
