# SPDX-License-Identifier: BSD-2-Clause
"""A graph on as few boards as hold it."""

import pytest

from hypercast.benches.board_placement import fewest
from hypercast.benches.study.graphs import GraphStatistics
from hypercast.host.cluster.description import Cluster

GRAPH = GraphStatistics(vertices=20_000, edges=200_000, features=64, classes=8)


def cluster(gigabytes, count=8):
    return Cluster.of_sections({
        "boards": {"one": {"board": "vcu128", "count": count, "gigabytes": gigabytes}},
        "links": {"network": {"gigabits": 100.0}}})


def test_smaller_boards_are_more():
    found = []
    for gigabytes in (0.034, 0.017):
        alone, fewer, memory, share, step = fewest("small", GRAPH, 2, cluster(gigabytes))
        assert alone.passed and share.passed
        assert memory.value <= gigabytes
        assert step.value > 0
        found.append((alone.value, fewer.value))
    (once, some), (twice, more) = found
    assert twice == pytest.approx(2 * once)
    assert some < more


def test_what_one_board_holds_misses_the_bar():
    alone, *_ = fewest("small", GRAPH, 2, cluster(2.0))
    assert not alone.passed


def test_too_large_for_all():
    with pytest.raises(ValueError, match="2 boards do not hold small: one-0"):
        list(fewest("small", GRAPH, 2, cluster(0.009, 2)))
