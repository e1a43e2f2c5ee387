"""Proof that the network cannot deadlock, made anew for every network that is built.

The nodes of the channel dependency graph are the routers' input buffers, (core, dimension, plane).
A flit at the head of a buffer stays there until all its branches are served, so the buffer depends
on the next buffer of each branch that a flit in it can have. A branch that is served is a flit of
its own and holds nothing upstream, so branches do not depend on each other. Nothing in the network
waits for an injection buffer; those are left out.

If the graph has no cycle, and every core goes on accepting what is ejected, some flit can always
move (Dally and Seitz, IEEE Trans. Computers, 1987). This module imports no Amaranth.
"""

from functools import cache
from graphlib import CycleError, TopologicalSorter

from hypercast.rtl.network import routing
from hypercast.rtl.network.topology import links, neighbour

__all__ = ["DeadlockError", "check", "dependencies"]


class DeadlockError(ValueError):
    """A routing whose buffers can wait for each other in a circle; names them."""


def _reachable_masks(dimensions, plane, split):
    """For each arrival, the union of the masks of all flits that can come so.

    A mask's parts are routed independently of each other, so the union has exactly the branches
    that single flits can have. Addresses are relative: it is the same at every core.
    """
    masks = {None: (1 << (1 << dimensions)) - 1}
    changed = [None]
    while changed:
        arrival = changed.pop()
        _, branches = split(masks[arrival], plane, arrival, dimensions)
        for dimension, branch in branches.items():
            known = masks.get(dimension, 0)
            if branch & ~known:
                masks[dimension] = known | branch
                changed.append(dimension)
    return masks


def dependencies(dimensions, planes, split=routing.split):
    """The channel dependency graph.

    Parameters
    ----------
    dimensions, planes : int
        Size of the network.
    split : function
        The routing, called as ``routing.split``; it must treat destinations independently.

    Returns
    -------
    dict
        For each buffer (core, dimension, plane), where ``dimension`` is the one its flits come
        over, the set of buffers that flits at its head may wait for.
    """
    graph = {(core, dimension, plane): set()
             for plane in range(planes) for core, dimension in links(dimensions)}
    for plane in range(planes):
        for arrival, mask in _reachable_masks(dimensions, plane, split).items():
            if arrival is None:
                continue
            _, branches = split(mask, plane, arrival, dimensions)
            for core in range(1 << dimensions):
                graph[core, arrival, plane].update(
                    (neighbour(core, dimension), dimension, plane)
                    for dimension, branch in branches.items() if branch)
    return graph


@cache
def check(dimensions, planes, split=routing.split):
    """Prove that the network's channel dependency graph has no cycle.

    Parameters
    ----------
    dimensions, planes : int
        Size of the network.
    split : function
        The routing, called as ``routing.split``; it must treat destinations independently.

    Raises
    ------
    DeadlockError
        If there is a cycle; the message shows one.
    """
    graph = dependencies(dimensions, planes, split)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # The sorter lists each buffer before the one that waits for it.
        cycle = " -> ".join(f"(core {core}, dimension {dimension}, plane {plane})"
                            for core, dimension, plane in reversed(error.args[1]))
        raise DeadlockError(f"these buffers can wait for each other for ever: {cycle}") from None
