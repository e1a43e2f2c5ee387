"""Planes of messages: valid, repeatable, and such that links share the load."""

import numpy as np
import pytest

from hypercast.host.compiler.network_loads import link_loads
from hypercast.host.compiler.plane_choice import choose_planes
from hypercast.host.noc.patterns import pattern_traffic
from hypercast.rtl.config import Config
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
    """Of two ways to a core, the one that others use is taken less often."""
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
