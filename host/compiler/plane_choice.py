# SPDX-License-Identifier: BSD-2-Clause
"""Chooses the plane of each message, so that links and ejection ports share the load.

The messages are known in advance, and the cores send at about the same rate, so the compiler knows
roughly which are under way together. It goes through them in that order and gives each the plane
whose links and ejection ports were used least of late, unless taking the planes in turn is nearly
as good. All arithmetic is in integers: the choice is the same on every machine.

What was used long ago does not matter, so the messages are cut into segments, and each begins
without loads.
"""

from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hypercast.host.compiler.network_loads import entered_cores
from hypercast.host.compiler.plane_kernels import placing_kernel
from hypercast.rtl.config import Config
from hypercast.rtl.network import routing

__all__ = ["choose_planes"]

#: For each byte, a word with a byte for every bit: 255 where it is set, else 0.
_MEMBERS = 255 * np.unpackbits(
    np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").view(np.uint64).ravel()


def choose_planes(source: npt.NDArray[np.integer[Any]], destinations: npt.NDArray[np.uint64],
                  config: Config) -> npt.NDArray[np.uint8]:
    """The plane of each message. Takes time linear in the number of the busiest core's messages.

    Of a core's messages, some make a round. In each, a message takes the plane in which it costs
    least: a flit for every link, and twice what links and ports were used of late; but the plane
    whose turn it is costs less.

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
        (M,) uint8, 0 to ``config.planes - 1``.
    """
    planes = np.zeros(len(source), dtype=np.uint8)
    if config.planes == 1:
        return planes
    senders = np.ascontiguousarray(source, dtype=np.uint8)
    destinations = np.ascontiguousarray(destinations, dtype=np.uint64)
    ways = _Ways.of(config.planes, config.dimensions)
    placing_kernel(len(ways.trees))(senders, destinations, ways.links, ways.trees, _MEMBERS,
                                    config.eject if config.eject > 1 else 0, planes)
    return planes


class _Ways(NamedTuple):
    """A network's constants.

    Attributes
    ----------
    links : (planes, cores, 6) numpy.ndarray of uint16
        The links on the way to each core, relative to the source, as ``place_messages`` takes
        them.
    trees : (parts, 256, planes) numpy.ndarray of uint64
        The cores that a plane's flits enter on the way to some, as ``place_messages`` takes them.
    """

    links: npt.NDArray[np.uint16]
    trees: npt.NDArray[np.uint64]

    @classmethod
    @cache
    def of(cls, planes: int, dimensions: int) -> Self:
        """The constants of a network with so many planes and dimensions."""
        cores = 1 << dimensions
        links = np.full((planes, cores, 6), dimensions * cores, dtype=np.uint16)
        for plane in range(planes):
            # From the source outwards: the way to a link's sender is known.
            for sender, dimension, _ in routing.broadcast_links(plane, dimensions):
                core = sender ^ 1 << dimension
                links[plane, core, 0] = dimension * cores + core
                links[plane, core, 1:] = links[plane, sender, :-1]
        parts = max(2, cores // 8)
        byte, part = np.arange(256, dtype=np.uint64), 8 * np.arange(parts, dtype=np.uint64)
        every = np.uint64((1 << cores) - 1)
        aims = (byte << part[:, None] & every).ravel()
        return cls(links, np.stack([
            entered_cores(aims, np.full(len(aims), plane), dimensions).reshape(parts, 256)
            for plane in range(planes)], axis=2))
