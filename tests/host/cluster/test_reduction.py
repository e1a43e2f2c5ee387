# SPDX-License-Identifier: BSD-2-Clause
"""How long sums of all boards take: each way is simulated message by message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.cluster.link import ClusterLink
from hypercast.host.cluster.reduction import reduction_seconds

LINKS = st.builds(ClusterLink, bandwidth=st.floats(1e6, 1e10), latency=st.floats(0, 1e-3))


def rounds(boards, size):
    """Bytes of the messages of each way, which follow each other."""
    ring = [size / boards] * (2 * (boards - 1))
    paired = 1
    while 2 * paired <= boards:
        paired *= 2
    outside = [size] * (2 if paired < boards else 0)
    halves, doubled, part = [], [], size
    while paired > 1:
        part /= 2
        paired /= 2
        halves.append(part)
        doubled.append(size)
    return ring, [*outside, *halves, *reversed(halves)], [*outside, *doubled]


@given(LINKS, st.integers(2, 40), st.floats(8, 1e8))
def test_the_best_of_three_ways(link, boards, size):
    found = reduction_seconds([link], boards, size)
    assert found == pytest.approx(min(
        sum(map(link.seconds, messages)) for messages in rounds(boards, size)))


@given(st.lists(LINKS, min_size=1, max_size=4), st.integers(1, 20), st.floats(8, 1e8))
def test_more_links_and_bytes_take_no_less(links, boards, size):
    found = reduction_seconds(links, boards, size)
    assert found >= max(reduction_seconds([link], boards, size) for link in links)
    assert reduction_seconds(links, boards, 2 * size) >= found
    assert reduction_seconds(links, 1, size) == 0


def test_small_sums_take_few_messages_and_large_ones_few_bytes():
    link = ClusterLink(bandwidth=1e9, latency=1e-5)
    assert reduction_seconds([link], 16, 8) == pytest.approx(4 * link.seconds(8))
    assert reduction_seconds([link], 16, 1e9) == pytest.approx(2 * 15 / 16, rel=1e-3)


@pytest.mark.parametrize("boards", [0, 1])
def test_a_board_alone_adds_up_nothing(boards):
    """Nor is there any link then."""
    assert reduction_seconds([], boards, 8) == 0
