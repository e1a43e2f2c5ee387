# SPDX-License-Identifier: BSD-2-Clause
"""Random multicast traffic over networks of all sizes: a scoreboard and three watchdogs.

The long version sends 50,000 messages through each of 42 networks.
"""

import numpy as np
import pytest

from hypercast.host.compiler.network_loads import bound_traffic, link_loads
from hypercast.host.noc.patterns import Traffic, creation_cycles
from hypercast.rtl.config import Config
from hypercast.sim.network_scoreboard import check_deliveries
from hypercast.sim.network_simulation import NetworkSimulation, Watchdogs

#: Planes and ejection ports; lanes and bits of an element; how often an ejection port is ready.
PORTS = ((1, 1), (2, 1), (2, 2), (4, 1), (4, 2), (4, 4))
WORDS = ((2, 8), (4, 16), (2, 16), (16, 16), (8, 8))
READY = (1.0, 0.9, 0.6, 0.3)


def configuration(index):
    """One of 42 configurations: each number of dimensions with all numbers of planes and ports."""
    planes, eject = PORTS[(index + index // 6) % 6]
    lanes, element_width = WORDS[index % 5]
    return Config(dimensions=1 + index % 6, planes=planes, eject=eject,
                  buffer_depth=2 + index % 7, lanes=lanes, element_width=element_width)


def random_traffic(config, count, generator):
    """Messages to any number of cores, none and the source's own among them."""
    destinations = generator.integers(
        0, (1 << config.cores) - 1, count, dtype=np.uint64, endpoint=True)
    for _ in range(config.dimensions):
        thinner = generator.integers(0, np.iinfo(np.uint64).max, count, dtype=np.uint64)
        destinations &= np.where(generator.random(count) < 0.5, thinner, destinations)
    return Traffic(generator.integers(0, config.cores, count), destinations)


def sweep(index, count):
    config = configuration(index)
    generator = np.random.default_rng(index)
    traffic = random_traffic(config, count, generator)
    planes = generator.integers(0, config.planes, count)
    ready = READY[index % 4]
    fewest = bound_traffic(*traffic, planes, config).cycles / ready
    created = None
    if index % 3 == 0:  # below saturation, so that the network runs empty now and then
        created = creation_cycles(traffic.source, 0.5 * count / config.cores / fewest, index)
    run = NetworkSimulation(config).run(
        *traffic, planes, created=created, ready=ready, seed=index,
        watchdogs=Watchdogs(idle=200, age=5_000, total=int(6 * fewest) + 1_000))
    check_deliveries(*traffic, planes, run)
    assert np.array_equal(run.link_flits, link_loads(*traffic, planes, config.dimensions))


@pytest.mark.parametrize("index", [1, 27])
def test_some_networks(index):
    sweep(index, 2_000)


@pytest.mark.slow
@pytest.mark.parametrize("index", range(42))
def test_all_networks(index):
    sweep(index, 50_000)


def test_the_sweep_covers_what_a_network_can_be():
    configs = [configuration(index) for index in range(42)]
    assert len(set(configs)) == 42
    assert {(one.dimensions, one.planes, one.eject) for one in configs} == {
        (dimensions, *ports) for dimensions in range(1, 7) for ports in PORTS}
    assert {one.buffer_depth for one in configs} == set(range(2, 9))
