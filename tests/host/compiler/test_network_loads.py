# SPDX-License-Identifier: BSD-2-Clause
"""Loads against the trees of ``routing``, one message at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.network_loads import (
    bound_traffic,
    ejection_loads,
    injection_loads,
    link_loads,
)
from hypercast.host.noc.patterns import pattern_traffic
from hypercast.rtl.config import Config
from hypercast.rtl.network import routing


@st.composite
def messages(draw):
    """A configuration, and messages with their planes."""
    planes = draw(st.sampled_from([1, 2, 4]))
    config = Config(dimensions=draw(st.integers(0, 6)), planes=planes,
                    eject=draw(st.sampled_from([one for one in (1, 2, 4) if one <= planes])))
    generator = np.random.default_rng(draw(st.integers(0, 1000)))
    count = draw(st.integers(1, 30))
    return config, (
        generator.integers(0, config.cores, count),
        generator.integers(0, (1 << config.cores) - 1, count, dtype=np.uint64, endpoint=True),
        generator.integers(0, planes, count))


@given(messages())
def test_loads_are_those_of_the_trees(case):
    config, sent = case
    links = np.zeros((config.cores, config.dimensions), dtype=int)
    ejected = np.zeros((config.cores, config.eject), dtype=int)
    injected = np.zeros(config.cores, dtype=int)
    for source, destinations, plane in zip(*(values.tolist() for values in sent), strict=True):
        injected[source] += 1
        for link in routing.tree(destinations, plane, config.dimensions, source):
            links[link] += 1
        for relative in range(config.cores):
            ejected[source ^ relative, plane % config.eject] += destinations >> relative & 1
    assert np.array_equal(link_loads(*sent, config.dimensions), links)
    assert np.array_equal(ejection_loads(*sent, config), ejected)
    assert np.array_equal(injection_loads(sent[0], config.dimensions), injected)
    assert bound_traffic(*sent, config).cycles == max(
        injected.max(), ejected.sum(axis=1).max() / config.eject, links.max(initial=0))


@pytest.mark.parametrize(("source", "destinations", "planes", "expected"), [
    ([0, 0, 0], [2, 4, 8], [0, 1, 0], (3, "injection of core 0")),
    ([1, 2, 3], [2, 4, 8], [0, 0, 0], (2, "link of core 2 along dimension 1")),
    ([0, 1, 2, 3], [8, 4, 2, 1], [0, 1, 0, 1], (2, "ejection of core 3")),
    ([0, 1, 1], [6, 6, 7], [0, 0, 0], (2.0, "injection of core 1")),
    ([0, 1, 0, 1], [8, 4, 8, 4], [1, 0, 1, 0], (2, "injection of core 0")),
    ([0, 2, 0, 2], [8, 10, 8, 8], [1, 0, 1, 0], (4, "link of core 2 along dimension 0")),
])
def test_the_bound_names_its_resource(source, destinations, planes, expected):
    config = Config(dimensions=2, planes=2, eject=2)
    sent = (np.array(source), np.array(destinations, dtype=np.uint64), np.array(planes))
    assert bound_traffic(*sent, config) == expected


def test_a_million_messages_on_64_cores():
    config = Config(dimensions=6)
    source, destinations = pattern_traffic("broadcast", 6, 16_000)
    loads = link_loads(source, destinations, source % config.planes, 6)
    assert loads.sum() == len(source) * 63
