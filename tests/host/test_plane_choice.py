"""Planes of messages: valid, repeatable, and such that links share the load."""

import numpy as np
import pytest

from hypercast.host.noc.loads import link_loads
from hypercast.host.noc.patterns import pattern_traffic
from hypercast.host.plane_choice import choose_planes
from hypercast.rtl.config import Config


@pytest.mark.parametrize("planes", [1, 2, 4])
@pytest.mark.parametrize("dimensions", [0, 2, 6])
def test_planes_are_valid_and_repeatable(dimensions, planes):
    config = Config(dimensions=dimensions, planes=planes)
    generator = np.random.default_rng(dimensions)
    source = generator.integers(0, config.cores, 300)
    mask = generator.integers(0, (1 << config.cores) - 1, 300, dtype=np.uint64, endpoint=True)
    chosen = choose_planes(source, mask, config)
    assert np.array_equal(chosen, choose_planes(source, mask, config))
    assert chosen.shape == (300,) and set(chosen.tolist()) == set(range(planes))


@pytest.mark.parametrize(("name", "most"), [("broadcast", 1.1), ("random4", 1.2)])
def test_links_share_the_load(name, most):
    config = Config(dimensions=4)
    source, mask = pattern_traffic(name, 4, 200)
    loads = link_loads(source, mask, choose_planes(source, mask, config), 4)
    alone = link_loads(source, mask, np.zeros_like(source), 4)
    assert loads.max() <= most * loads.mean() and alone.max() > 1.3 * alone.mean()


def test_messages_without_destinations_change_nothing():
    config = Config(dimensions=3)
    source, mask = pattern_traffic("random2", 3, 50)
    spaced = np.stack([mask, np.zeros_like(mask)], axis=1).ravel()
    chosen = choose_planes(np.repeat(source, 2), spaced, config)
    assert np.array_equal(chosen[::2], choose_planes(source, mask, config))
    assert not choose_planes(source, np.zeros_like(mask), config).any()


def test_no_messages():
    nothing = np.zeros(0, dtype=np.int64)
    assert choose_planes(nothing, nothing.astype(np.uint64), Config()).size == 0
