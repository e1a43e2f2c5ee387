# SPDX-License-Identifier: BSD-2-Clause
"""The deadlock check: it accepts what is built, refuses what could lock, and shows a real cycle."""

import re
from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.rtl.config import Config
from hypercast.rtl.network import deadlock, routing
from hypercast.rtl.network.router import Router
from hypercast.rtl.network.topology import links, neighbour


def built_paths(dimensions, planes, monkeypatch):
    """What a router tells the check that it contains."""
    told = []
    with monkeypatch.context() as patch:
        patch.setattr(deadlock, "check", lambda size, paths: told.append((size, paths)))
        Router(Config(dimensions=dimensions, planes=planes)).elaborate(None)
    [(size, paths)] = told
    assert size == dimensions
    return paths


def rotated(plane, arrival, dimensions):
    """A wrong routing: the order starts anew after the dimension a flit came over."""
    start = plane if arrival is None else arrival + 1
    return tuple(dimension for position in range(dimensions)
                 if (dimension := (start + position) % dimensions) != arrival)


def adaptive(plane, arrival, dimensions):
    """A wrong routing: any dimension that is left, in any order."""
    return tuple(dimension for dimension in range(dimensions) if dimension != arrival)


def changes_plane(dimensions):
    """Paths of a wrong routing: after a hop a flit goes on in the other of two planes."""
    paths = {}
    for plane in range(2):
        for arrival in range(dimensions):
            ways = routing.outputs(1 - plane, None, dimensions)
            paths[arrival, plane] = [(dimension, 1 - plane) for dimension in ways
                                     if dimension != arrival]
    return paths


def paths_of(outputs, dimensions, planes):
    return {(arrival, plane): [(way, plane) for way in outputs(plane, arrival, dimensions)]
            for plane in range(planes) for arrival in routing.arrivals(dimensions)}


def assert_cycle(error, paths):
    """The message shows buffers of which each waits, over a link, for the next."""
    shown = [tuple(map(int, re.findall(r"\d+", buffer)))
             for buffer in str(error.value).split(": ", 1)[1].split(" -> ")]
    assert len(shown) > 2 and shown[0] == shown[-1] and len(set(shown)) == len(shown) - 1
    for (core, arrival, plane), (other, dimension, next_plane) in pairwise(shown):
        assert other == core ^ 1 << dimension
        assert (dimension, next_plane) in paths[arrival, plane]


@pytest.mark.parametrize("dimensions", range(7))
@pytest.mark.parametrize("planes", [1, 2, 4])
def test_the_routing_is_free_of_deadlock(dimensions, planes):
    deadlock.check(dimensions, paths_of(routing.outputs, dimensions, planes))


@pytest.mark.parametrize("planes", [1, 2, 4])
@pytest.mark.parametrize("dimensions", range(4))
def test_what_is_built_has_exactly_the_dependencies_of_all_multicasts(
        dimensions, planes, monkeypatch):
    expected = {(core, dimension, plane): set() for plane in range(planes)
                for core, dimension in links(dimensions)}
    for plane in range(planes):
        for destinations in range(1 << (1 << dimensions)):
            for source in range(1 << dimensions):
                tree = routing.tree(destinations, plane, dimensions, source)
                reached_over = {neighbour(core, dimension): dimension for core, dimension in tree}
                for core, dimension in tree:
                    if core in reached_over:
                        expected[core, reached_over[core], plane].add(
                            (neighbour(core, dimension), dimension, plane))
    paths = built_paths(dimensions, planes, monkeypatch)
    assert deadlock.dependencies(dimensions, paths) == expected


def test_a_multicast_depends_on_all_its_branches():
    graph = deadlock.dependencies(3, paths_of(routing.outputs, 3, 1))
    assert graph[0, 0, 0] == {(2, 1, 0), (4, 2, 0)}
    assert graph[0, 2, 0] == set()


@pytest.mark.parametrize("outputs", [rotated, adaptive])
@pytest.mark.parametrize(("dimensions", "planes"), [(2, 1), (3, 2), (4, 4)])
def test_a_router_with_a_wrong_routing_is_not_built(dimensions, planes, outputs, monkeypatch):
    monkeypatch.setattr(routing, "outputs", outputs)
    with pytest.raises(deadlock.DeadlockError) as caught:
        Router(Config(dimensions=dimensions, planes=planes)).elaborate(None)
    assert_cycle(caught, paths_of(outputs, dimensions, planes))


@pytest.mark.parametrize("dimensions", [2, 3, 4])
def test_a_change_of_plane_is_refused(dimensions):
    paths = changes_plane(dimensions)
    with pytest.raises(deadlock.DeadlockError) as caught:
        deadlock.check(dimensions, paths)
    assert_cycle(caught, paths)


BUFFERS = [(dimension, plane) for dimension in range(3) for plane in range(2)]


@given(st.fixed_dictionaries({
    buffer: st.sets(st.sampled_from(BUFFERS), max_size=2) for buffer in BUFFERS}))
def test_refuses_exactly_what_has_a_cycle(paths):
    """Against networkx, on arbitrary paths of a router of three dimensions and two planes."""
    graph = nx.DiGraph(
        ((core, *buffer), (core ^ 1 << dimension, dimension, plane))
        for core in range(8) for buffer, ways in paths.items() for dimension, plane in ways)
    if nx.is_directed_acyclic_graph(graph):
        deadlock.check(3, paths)
    else:
        with pytest.raises(deadlock.DeadlockError) as caught:
            deadlock.check(3, paths)
        assert_cycle(caught, paths)
