"""Multicast e-cube routing with rotated dimension orders.

Destination masks are relative to the core that holds the flit: bit ``k`` is the core at address
``self XOR k``. In plane ``r`` the dimensions are resolved in the order ``r, r+1, ...`` modulo their
number (``r`` itself modulo that number too), so each destination is reached by one path, of minimal
length, and the paths of one flit form a tree. Nothing here depends on a core's address: the same
constants serve every router.

Masks may be integers, integer arrays or hardware values. This module imports no Amaranth; routers,
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
    "arrivals", "broadcast_links", "dimension_order", "hop", "outputs", "split", "split_masks",
    "tree",
]

#: An integer, or an array of them. Hardware values have no types that say something.
Mask = TypeVar("Mask", int, npt.NDArray[np.integer[Any]])


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
def split_masks(plane: int, dimensions: int) -> tuple[int, ...]:
    """For each dimension, the destinations whose first differing bit in ``plane``'s order it is.

    Together with bit 0 (this core) they cut every mask in disjoint parts.

    Returns
    -------
    tuple of int
        One constant mask of ``2 ** dimensions`` bits per dimension.
    """
    masks = [0] * dimensions
    for destination in range(1, 1 << dimensions):
        first = next(dimension for dimension in dimension_order(plane, dimensions)
                     if destination >> dimension & 1)
        masks[first] |= 1 << destination
    return tuple(masks)


def hop(mask: Mask, dimension: int, dimensions: int) -> Mask:
    """``mask`` as the neighbour across ``dimension`` sees it: bit ``k`` moves to ``k XOR 2**d``."""
    step = 1 << dimension
    lower = sum(1 << core for core in range(1 << dimensions) if not core & step)
    return (mask & lower) << step | mask >> step & lower


def split(mask: Mask, plane: int, arrival: int | None,
          dimensions: int) -> tuple[Mask, dict[int, Mask]]:
    """Cut a mask into what is for this core and what goes on along each dimension.

    Parameters
    ----------
    mask : int or integer array
        Relative destination mask, ``2 ** dimensions`` bits.
    plane : int
        Plane of the flit.
    arrival : int or None
        Dimension over which the flit came; None if it was injected here.

    Returns
    -------
    local : int or integer array
        1 if this core is a destination, else 0.
    branches : dict
        For each dimension of ``outputs``, the mask relative to the neighbour there; zero if the
        flit does not go there.
    """
    masks = split_masks(plane, dimensions)
    return mask & 1, {
        dimension: hop(mask & masks[dimension], dimension, dimensions)
        for dimension in outputs(plane, arrival, dimensions)}


def tree(mask: int, plane: int, dimensions: int, source: int = 0) -> list[tuple[int, int]]:
    """The links a multicast uses, as a list of (sending core, dimension), parents first.

    Parameters
    ----------
    mask : int
        Destinations relative to ``source``.
    """
    edges: list[tuple[int, int]] = []
    flits: list[tuple[int, int | None, int]] = [(source, None, mask)]
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

    A multicast uses just those of them that have one of its destinations beyond them.

    Returns
    -------
    tuple of (int, int, int)
        For each link its sending core, its dimension and the mask of destinations beyond it, all
        relative to the source.
    """
    beyond: dict[tuple[int, int], int] = {}
    for destination in range(1, 1 << dimensions):
        for link in tree(1 << destination, plane, dimensions):
            beyond[link] = beyond.get(link, 0) | 1 << destination
    return tuple((core, dimension, mask) for (core, dimension), mask in beyond.items())
