# SPDX-License-Identifier: BSD-2-Clause
"""Patterns: how many messages, from whom, and where to."""

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.compiler.messages import compile_messages
from hypercast.host.noc.patterns import (
    PATTERNS,
    PatternError,
    creation_cycles,
    graph_traffic,
    pattern_traffic,
)
from hypercast.rtl.config import Config


def targets(name, dimensions, messages=1, seed=0):
    """For each message, its source and its destinations' addresses."""
    source, destinations = pattern_traffic(name, dimensions, messages, seed)
    return [(int(sender), [int(sender) ^ bit for bit in range(64) if int(one) >> bit & 1])
            for sender, one in zip(source, destinations, strict=True)]


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("dimensions", [4, 6])
def test_every_core_sends_as_many_messages(name, dimensions):
    source, destinations = pattern_traffic(name, dimensions, 5)
    assert np.bincount(source).tolist() == [5] * (1 << dimensions)
    assert destinations.dtype == np.uint64 and destinations.shape == source.shape
    assert destinations.all()
    assert not np.any(destinations >> np.uint64((1 << dimensions) - 1) >> np.uint64(1))


@pytest.mark.parametrize(("name", "count"), [
    ("unicast", 1), ("random2", 2), ("random4", 4), ("random8", 8), ("broadcast", 15)])
def test_number_of_destinations(name, count):
    for source, cores in targets(name, 4, 20):
        assert len(cores) == count and source not in cores


@pytest.mark.parametrize("name", ["unicast", "random2", "random4", "random8"])
def test_random_destinations_are_uniform_and_seeded(name):
    first, again, other = (pattern_traffic(name, 4, 500, seed).destinations for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    share = [np.mean(first >> np.uint64(bit) & np.uint64(1)) for bit in range(1, 16)]
    assert share == pytest.approx([np.mean(share)] * 15, rel=0.25)


def test_one_core_is_in_all_dimensions_a_neighbour():
    seen = {(source, *cores) for source, cores in targets("neighbour", 3, 40)}
    assert seen == {(source, source ^ 1 << dimension)
                    for source in range(8) for dimension in range(3)}


@pytest.mark.parametrize(("name", "dimensions", "expected"), [
    ("complement", 3, [7, 6, 5, 4, 3, 2, 1, 0]),
    ("tornado", 3, [3, 4, 5, 6, 7, 0, 1, 2]),
    ("tornado", 2, [1, 2, 3, 0]),
    ("transpose", 4, [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]),
])
def test_permutations(name, dimensions, expected):
    assert targets(name, dimensions) == [
        (source, [target]) for source, target in enumerate(expected)]


def test_hot_spot():
    messages = targets("hotspot", 4, 400)
    assert all(len(cores) == 1 and cores != [source] for source, cores in messages)
    hot = np.mean([cores == [0] for source, cores in messages if source])
    assert hot == pytest.approx(0.25 + 0.75 / 15, abs=0.03)


@pytest.mark.parametrize(("name", "dimensions", "message"), [
    ("transpose", 3, "transpose needs an even number of dimensions, not 3"),
    ("tornado", 1, "tornado needs at least 2 dimensions, not 1"),
    ("random4", 2, "random4 needs at least 3 dimensions, not 2"),
    ("random8", 3, "random8 needs at least 4 dimensions, not 3"),
    ("unicast", 0, "unicast needs at least 1 dimension, not 0"),
    ("ring", 4, "there is no pattern 'ring'; there are unicast"),
])
def test_refusals(name, dimensions, message):
    with pytest.raises(PatternError, match=message):
        pattern_traffic(name, dimensions, 1)


def test_graph_traffic_is_what_the_compiler_sends():
    matrix = scipy.sparse.random_array((90, 90), density=0.03, rng=np.random.default_rng(4))
    config = Config(dimensions=3, planes=2)
    compiled = compile_messages((matrix * 100).astype(np.int64) + 1 * (matrix != 0), config)
    lists = [np.ascontiguousarray(words).view("<u4").ravel() for words in compiled.send_lists]
    source, destinations = graph_traffic(matrix, 3)
    for core in range(8):
        sent = [record & 0xFF for record in lists[core].tolist() if record & 0xFF]
        assert destinations[source == core].tolist() == sent
    assert np.bitwise_count(destinations).sum() == compiled.deliveries


def test_panels_are_sent_in_turn():
    matrix = scipy.sparse.random_array((40, 40), density=0.1, rng=np.random.default_rng(5))
    one, three = graph_traffic(matrix, 2), graph_traffic(matrix, 2, panels=3)
    assert np.array_equal(three.source, np.tile(one.source, 3))
    assert np.array_equal(three.destinations, np.tile(one.destinations, 3))


@pytest.mark.parametrize("rate", [0.1, 0.7, 1.0])
def test_creation_cycles_have_the_rate(rate):
    source = np.tile(np.arange(4), 5_000)
    created = creation_cycles(source, rate, seed=3)
    assert np.array_equal(created, creation_cycles(source, rate, seed=3))
    for core in range(4):
        own = created[source == core]
        assert np.all(np.diff(own) >= 1)
        assert len(own) / (own[-1] + 1) == pytest.approx(rate, rel=0.05)


@pytest.mark.parametrize("rate", [0, -0.5, 1.01, 1e-320])
def test_impossible_rates(rate):
    with pytest.raises(PatternError, match=f"rate must be 1e-06 to 1 .* not {rate}"):
        creation_cycles(np.zeros(3, dtype=int), rate)
