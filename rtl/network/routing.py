# SPDX-License-Identifier: BSD-2-Clause
"""Multicast e-cube routing with rotated dimension orders.

A flit's destinations are a set of cores, a bit each, relative to the core that holds it: bit ``k``
is the core at address ``self XOR k``. In plane ``r`` the dimensions are resolved in the order
``r, r+1, ...`` modulo their number (``r`` itself modulo that number too), so each destination is
reached by one path, of minimal length, and the paths of one flit form a tree. Nothing here depends
on a core's address: the same constants serve every router.

Sets may be integers, integer arrays or hardware values. This module imports no Amaranth; routers,
models and the deadlock check share it.

E-cube routing is Sullivan and Bashkow's (ISCA 1977); resolving dimensions in a fixed order makes it
free of deadlock by Dally and Seitz's condition (IEEE Trans. Computers, 1987).
"""

from functools import cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hypercast.rtl.network.topology import neighbour

__all__ = [
    "arrivals", "broadcast_links", "dimension_order", "first_hops", "hop", "outputs", "split",
    "tree",
]

#: An integer, or an array of them. Hardware values have no types that say something.
Destinations = TypeVar("Destinations", int, npt.NDArray[np.integer[Any]])


def dimension_order(plane: int, dimensions: int) -> tuple[int, ...]:
    """Order in which ``plane`` resolves the dimensions."""
    return tuple((plane + position) % dimensions for position in range(dimensions))


def arrivals(dimensions: int) -> tuple[int | None, ...]:
    """Where a router's flits come from: None (injected here), or over a dimension."""
    return (None, *range(dimensions))


def outputs(plane: int, arrival: int | None, dimensions: int) -> tuple[int, ...]:
    """Dimensions a flit can still take, in order; after ``arrival`` only later ones of the plane.

    Parameters
    ----------
    arrival : int or None
        Dimension over which the flit came; None if it was injected here.
    """
    order = dimension_order(plane, dimensions)
    return order if arrival is None else order[order.index(arrival) + 1:]


@cache
def first_hops(plane: int, dimensions: int) -> tuple[int, ...]:
    """For each dimension, the destinations that flits of ``plane`` reach by a first hop along it.

    Together with bit 0 (this core) they cut every set of destinations in disjoint parts.

    Returns
    -------
    tuple of int
        One constant of ``2 ** dimensions`` bits per dimension.
    """
    sets = [0] * dimensions
    for destination in range(1, 1 << dimensions):
        first = next(dimension for dimension in dimension_order(plane, dimensions)
                     if destination >> dimension & 1)
        sets[first] |= 1 << destination
    return tuple(sets)


def hop(destinations: Destinations, dimension: int, dimensions: int) -> Destinations:
    """The destinations as a neighbour sees them: bit ``k`` goes to ``k XOR 2**dimension``."""
    step = 1 << dimension
    lower = sum(1 << core for core in range(1 << dimensions) if not core & step)
    return (destinations & lower) << step | destinations >> step & lower


def split(destinations: Destinations, plane: int, arrival: int | None,
          dimensions: int) -> tuple[Destinations, dict[int, Destinations]]:
    """Cut destinations into what is for this core and what goes on along each dimension.

    Parameters
    ----------
    destinations : int or integer array
        A bit for each of ``2 ** dimensions`` cores, relative to this one.
    plane : int
        Plane of the flit.
    arrival : int or None
        Dimension over which the flit came; None if it was injected here.

    Returns
    -------
    local : int or integer array
        1 if this core is a destination, else 0.
    branches : dict
        For each dimension of ``outputs``, the destinations beyond, relative to the neighbour
        there; zero if the flit does not go there.
    """
    beyond = first_hops(plane, dimensions)
    return destinations & 1, {
        dimension: hop(destinations & beyond[dimension], dimension, dimensions)
        for dimension in outputs(plane, arrival, dimensions)}


def tree(destinations: int, plane: int, dimensions: int, source: int = 0) -> list[tuple[int, int]]:
    """The links a multicast uses, as a list of (sending core, dimension), parents first.

    Parameters
    ----------
    destinations : int
        Destinations relative to ``source``.
    """
    edges: list[tuple[int, int]] = []
    flits: list[tuple[int, int | None, int]] = [(source, None, destinations)]
    for core, arrival, held in flits:
        _, branches = split(held, plane, arrival, dimensions)
        for dimension, branch in branches.items():
            if branch:
                edges.append((core, dimension))
                flits.append((neighbour(core, dimension), dimension, branch))
    return edges


@cache
def broadcast_links(plane: int, dimensions: int) -> tuple[tuple[int, int, int], ...]:
    """The links of a broadcast's tree, and what lies beyond each.

    A multicast uses just the links that have one of its destinations beyond them.

    Returns
    -------
    tuple of (int, int, int)
        For each link its sending core, its dimension and the destinations beyond it, all
        relative to the source.
    """
    beyond: dict[tuple[int, int], int] = {}
    for destination in range(1, 1 << dimensions):
        for link in tree(1 << destination, plane, dimensions):
            beyond[link] = beyond.get(link, 0) | 1 << destination
    return tuple((core, dimension, cores) for (core, dimension), cores in beyond.items())
