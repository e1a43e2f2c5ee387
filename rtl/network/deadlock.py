# SPDX-License-Identifier: BSD-2-Clause
"""Proof that the network cannot deadlock, made anew for every router that is built.

The nodes of the channel dependency graph are the routers' input buffers, (core, dimension, plane).
A flit at the head of a buffer stays there until all its branches are served, so the buffer depends
on the next buffer of each branch that the router has a path for. A branch that is served is a flit
of its own and holds nothing upstream, so branches do not depend on each other. Nothing in the
network waits for an injection buffer, so these buffers are left out.

If the graph has no cycle, and every core goes on accepting what is ejected, some flit can always
move (Dally and Seitz, IEEE Trans. Computers, 1987). This module imports no Amaranth.
"""

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TypeAlias

from hypercast.errors import InputError
from hypercast.rtl.network.topology import neighbour

__all__ = ["DeadlockError", "check", "dependencies"]


#: A router's input buffer: core, the dimension that flits come over, plane.
Buffer: TypeAlias = tuple[int, int, int]
Paths: TypeAlias = Mapping[tuple[int | None, int], Iterable[tuple[int, int]]]


class DeadlockError(InputError):
    """A routing whose buffers can wait for each other in a circle; names them."""


def dependencies(dimensions: int, paths: Paths) -> dict[Buffer, set[Buffer]]:
    """The channel dependency graph of a network of equal routers.

    Parameters
    ----------
    dimensions : int
        Size of the network.
    paths : dict
        What one router contains: for each input buffer (arrival, plane), the (dimension, plane)
        pairs its flits can be sent along and in; ``arrival`` is the dimension they come over, or
        None.

    Returns
    -------
    dict
        For each buffer (core, arrival, plane), the set of buffers that flits at its head may wait
        for.
    """
    return {(core, arrival, plane): {(neighbour(core, dimension), dimension, next_plane)
                                     for dimension, next_plane in ways}
            for core in range(1 << dimensions)
            for (arrival, plane), ways in paths.items() if arrival is not None}


def check(dimensions: int, paths: Paths) -> None:
    """Prove that the channel dependency graph of a network of equal routers has no cycle.

    Parameters
    ----------
    dimensions, paths
        As for ``dependencies``.

    Raises
    ------
    DeadlockError
        If there is a cycle; the message shows one.
    """
    try:
        TopologicalSorter(dependencies(dimensions, paths)).prepare()
    except CycleError as error:
        # The sorter lists each buffer before the one that waits for it.
        cycle = " -> ".join(f"(core {core}, dimension {dimension}, plane {plane})"
                            for core, dimension, plane in reversed(error.args[1]))
        raise DeadlockError(f"these buffers can wait for each other for ever: {cycle}") from None
