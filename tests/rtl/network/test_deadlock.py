"""The deadlock check: it accepts what is built and refuses what could lock."""

from itertools import pairwise

import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.network import deadlock, routing
from hypercast.rtl.network.router import Router
from hypercast.rtl.network.topology import links, neighbour


def circular_split(mask, plane, arrival, dimensions):
    """A wrong routing for three dimensions: after dimension d comes d + 1, wherever one began."""
    local, branches = mask & 1, dict.fromkeys(range(dimensions), 0)
    for destination in range(1, 1 << dimensions):
        if mask >> destination & 1:
            first = next((dimension for dimension in range(dimensions)
                          if destination >> dimension & 1
                          and not destination >> (dimension - 1) % dimensions & 1), 0)
            branches[first] |= routing.hop(1 << destination, first, dimensions)
    return local, branches


def bouncing_split(mask, plane, arrival, dimensions):
    """A wrong routing: flits for the opposite core of a square may turn either way."""
    local, branches = routing.split(mask, plane, None, dimensions)
    if mask >> 3 & 1:
        branches[0] |= routing.hop(1 << 3, 0, dimensions)
        branches[1] |= routing.hop(1 << 3, 1, dimensions)
    return local, branches


@pytest.mark.parametrize("dimensions", range(7))
@pytest.mark.parametrize("planes", [1, 2, 4])
def test_the_routing_is_free_of_deadlock(dimensions, planes):
    deadlock.check(dimensions, planes)


@pytest.mark.parametrize("plane", range(4))
@pytest.mark.parametrize("dimensions", range(4))
def test_dependencies_are_exactly_those_of_all_multicasts(dimensions, plane):
    expected = {(core, dimension, plane): set() for core, dimension in links(dimensions)}
    for mask in range(1 << (1 << dimensions)):
        for source in range(1 << dimensions):
            reached_over = {neighbour(core, dimension): dimension
                            for core, dimension in routing.tree(mask, plane, dimensions, source)}
            for core, dimension in routing.tree(mask, plane, dimensions, source):
                if core in reached_over:
                    expected[core, reached_over[core], plane].add(
                        (neighbour(core, dimension), dimension, plane))
    graph = deadlock.dependencies(dimensions, plane + 1)
    assert {buffer: ahead for buffer, ahead in graph.items() if buffer[2] == plane} == expected


def test_a_multicast_depends_on_all_its_branches():
    graph = deadlock.dependencies(3, 1)
    assert graph[0, 0, 0] == {(2, 1, 0), (4, 2, 0)}
    assert graph[0, 2, 0] == set()


def test_a_circular_routing_is_refused_and_its_cycle_shown():
    with pytest.raises(deadlock.DeadlockError) as caught:
        deadlock.check(3, 1, circular_split)
    shown = str(caught.value).split(": ", 1)[1].split(" -> ")
    assert len(shown) > 2 and shown[0] == shown[-1]
    graph = {f"(core {core}, dimension {dimension}, plane {plane})":
             {f"(core {c}, dimension {d}, plane {p})" for c, d, p in ahead}
             for (core, dimension, plane), ahead
             in deadlock.dependencies(3, 1, circular_split).items()}
    for waiting, awaited in pairwise(shown):
        assert awaited in graph[waiting]


def test_a_routing_without_fixed_order_is_refused():
    with pytest.raises(deadlock.DeadlockError, match=r"core \d, dimension \d, plane 0"):
        deadlock.check(2, 1, bouncing_split)


def test_a_router_is_checked_when_it_is_elaborated(monkeypatch):
    def refuse(dimensions, planes):
        raise deadlock.DeadlockError(f"{dimensions} dimensions, {planes} planes")

    monkeypatch.setattr(deadlock, "check", refuse)
    with pytest.raises(deadlock.DeadlockError, match="3 dimensions, 2 planes"):
        Router(Config(dimensions=3, planes=2)).elaborate(None)
