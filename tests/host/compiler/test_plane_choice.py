# SPDX-License-Identifier: BSD-2-Clause
"""Planes of messages: valid, repeatable, and such that links share the load."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.network_loads import link_loads
from hypercast.host.compiler.plane_choice import _Ways, choose_planes
from hypercast.host.noc.patterns import pattern_traffic
from hypercast.rtl.config import Config
from hypercast.rtl.network import routing
from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("planes", [1, 2, 4])
@pytest.mark.parametrize("dimensions", [0, 2, 6])
def test_planes_are_valid_and_repeatable(dimensions, planes):
    config = Config(dimensions=dimensions, planes=planes)
    generator = np.random.default_rng(dimensions)
    source = generator.integers(0, config.cores, 300)
    destinations = generator.integers(
        0, (1 << config.cores) - 1, 300, dtype=np.uint64, endpoint=True)
    chosen = choose_planes(source, destinations, config)
    assert np.array_equal(chosen, choose_planes(source, destinations, config))
    assert chosen.shape == (300,) and set(chosen.tolist()) == set(range(planes))


@pytest.mark.parametrize(("name", "most"), [("broadcast", 1.1), ("random4", 1.2)])
def test_links_share_the_load(name, most):
    config = Config(dimensions=4)
    source, destinations = pattern_traffic(name, 4, 200)
    loads = link_loads(source, destinations, choose_planes(source, destinations, config), 4)
    alone = link_loads(source, destinations, np.zeros_like(source), 4)
    assert loads.max() <= most * loads.mean() and alone.max() > 1.3 * alone.mean()


def test_segments_are_placed_alike():
    """Many segments side by side share the load as one does, in every batch of them."""
    config = Config(dimensions=2, planes=2, eject=2)
    source, destinations = pattern_traffic("random2", 2, 40_000)
    chosen = choose_planes(source, destinations, config)
    number = np.arange(len(source)) // config.cores
    for part in range(0, 40_000, 4_000):
        own = (number >= part) & (number < part + 4_000)
        loads = link_loads(source[own], destinations[own], chosen[own], 2)
        assert loads.max() <= 1.05 * loads.mean()
        shares = np.bincount(chosen[own], minlength=2) / own.sum()
        assert abs(shares[0] - 0.5) < 0.02


def test_a_busy_link_is_avoided():
    """If others use one of two ways to a core, it is taken less often than the other way."""
    config = Config(dimensions=2, planes=2)
    # Core 0 sends to core 3, by way of core 1 in plane 0 and of core 2 in plane 1; core 1, to core
    # 3 too, has but one way.
    source = np.tile([0, 1], 100)
    destinations = np.tile(np.array([1 << 3, 1 << 2], dtype=np.uint64), 100)
    chosen = choose_planes(source, destinations, config)
    alone = choose_planes(source[::2], destinations[::2], config)
    assert np.count_nonzero(chosen[::2]) > 1.2 * np.count_nonzero(alone)


def test_messages_without_destinations_change_nothing():
    config = Config(dimensions=3)
    source, destinations = pattern_traffic("random2", 3, 50)
    spaced = np.stack([destinations, np.zeros_like(destinations)], axis=1).ravel()
    chosen = choose_planes(np.repeat(source, 2), spaced, config)
    assert np.array_equal(chosen[::2], choose_planes(source, destinations, config))
    assert not choose_planes(source, np.zeros_like(destinations), config).any()


def test_no_messages():
    nothing = np.zeros(0, dtype=np.int64)
    assert choose_planes(nothing, nothing.astype(np.uint64), Config()).size == 0


@pytest.mark.parametrize("name", ["sixteen cores"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


def chosen_slowly(source, destinations, config):
    """The choice, message by message and link by link.

    Of a core's messages, four make a round. In each, a message takes the plane in which it costs
    least: a flit for every link, and twice what links and ports were used of late, up to 127 flits;
    but the plane whose turn it is costs a flit less for each link, and one. Rounds are forgotten
    by three 16ths each, and segments of 32 rounds, or somewhat fewer, begin anew.
    """
    chosen, numbers = [0] * len(source), [0] * config.cores
    messages = {}
    for index, (core, aims) in enumerate(zip(source.tolist(), destinations.tolist(), strict=True)):
        if aims:
            messages.setdefault(numbers[core] // 4, []).append((index, core, numbers[core], aims))
            numbers[core] += 1
    segments = -(-len(messages) // 32)
    length = -(-len(messages) // segments) if messages else 0
    loads = {}
    for number, sent in sorted(messages.items()):
        loads = {} if number % length == 0 else {
            place: load * 13 >> 4 for place, load in loads.items()}
        used = []
        for index, core, turn, aims in sent:
            best = None
            for plane in range(config.planes):
                places = list(routing.tree(aims, plane, config.dimensions, core))
                cost = len(places)
                if (turn % 4 + core) % config.planes == plane:
                    cost -= 2 * len(places) + 1
                if config.eject > 1:
                    places += [("port", core ^ relative, plane % config.eject)
                               for relative in range(config.cores) if aims >> relative & 1]
                cost += 2 * sum(min(loads.get(place, 0) // 16, 127) for place in places)
                if best is None or cost < best[0]:
                    best = cost, plane, places
            chosen[index] = best[1]
            used += best[2]
        for place in used:
            loads[place] = loads.get(place, 0) + 16
    return chosen


@st.composite
def sent_messages(draw):
    """A configuration, sending cores and destinations: some cores send, and get, most."""
    planes = draw(st.sampled_from([2, 4]))
    config = Config(dimensions=draw(st.integers(0, 6)), planes=planes,
                    eject=draw(st.sampled_from([one for one in (1, 2, 4) if one <= planes])))
    generator = np.random.default_rng(draw(st.integers(0, 1000)))
    count = draw(st.integers(1, 150))
    source = generator.integers(0, draw(st.integers(1, config.cores)), count)
    destinations = generator.integers(0, (1 << config.cores) - 1, count, dtype=np.uint64,
                                      endpoint=True)
    if draw(st.booleans()):  # all to few cores
        destinations = np.uint64(1) << (source ^ generator.integers(
            0, min(2, config.cores), count)).astype(np.uint64)
    return source, destinations, config


@given(sent_messages())
def test_each_takes_the_plane_that_costs_least(case):
    assert choose_planes(*case).tolist() == chosen_slowly(*case)


@pytest.mark.parametrize(("count", "senders"), [(1, 1), (129, 1), (1500, 3), (700, 2), (1024, 4)])
def test_long_lists_are_cut_into_segments(count, senders):
    generator = np.random.default_rng(count)
    config = Config(dimensions=2, planes=4, eject=2)
    source = generator.integers(0, senders, count)
    destinations = generator.integers(0, 16, count, dtype=np.uint64)
    assert choose_planes(source, destinations, config).tolist() == chosen_slowly(
        source, destinations, config)


def test_loads_beyond_all_digits_are_alike():
    """Sixteen cores send all they have to one core."""
    config = Config(dimensions=4, planes=2, eject=2)
    source = np.tile(np.arange(16), 60)
    destinations = np.uint64(1) << (source ^ 5).astype(np.uint64)
    assert choose_planes(source, destinations, config).tolist() == chosen_slowly(
        source, destinations, config)


@pytest.mark.parametrize("planes", [1, 4])
@pytest.mark.parametrize("dimensions", [0, 3, 6])
def test_ways_are_those_of_routers(planes, dimensions):
    cores = 1 << dimensions
    ways = _Ways.of(planes, dimensions)
    assert ways.links.shape == (planes, cores, 6)
    assert ways.trees.shape == (max(2, cores // 8), 256, planes)
    generator = np.random.default_rng(0)
    for aim in (0, (1 << cores) - 1, *generator.integers(
            0, (1 << cores) - 1, 50, dtype=np.uint64, endpoint=True).tolist()):
        for plane in range(planes):
            entered = np.bitwise_or.reduce([
                ways.trees[part, aim >> 8 * part & 255, plane] for part in range(len(ways.trees))])
            # Dimension and sender of each link.
            links = {(link // cores, link % cores ^ 1 << link // cores)
                     for core, (link, *_) in enumerate(ways.links[plane].tolist())
                     if int(entered) >> core & 1}
            assert links == set((dimension, sender) for sender, dimension
                                in routing.tree(aim, plane, dimensions))
    for plane in range(planes):
        for core in range(cores):  # the last link first
            links = [(link // cores, link % cores ^ 1 << link // cores)
                     for link in ways.links[plane, core].tolist() if link < dimensions * cores]
            assert links[::-1] == [(dimension, sender) for sender, dimension
                                   in routing.tree(1 << core, plane, dimensions)]
