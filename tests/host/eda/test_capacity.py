# SPDX-License-Identifier: BSD-2-Clause
"""The sizes found fit, and a step more does not."""

import pytest

from hypercast.host.eda import capacity
from hypercast.host.eda.capacity import largest_graph, largest_layer
from tests.host.models import SMALL, small_graph


@pytest.mark.parametrize("limit", [0, 9, 10, 13, 14, 100, 1001])
def test_search(limit):
    tried = []

    def fits(size):
        tried.append(size)
        return size <= limit

    found = capacity._largest(10, 4, fits)
    assert found == (0 if limit < 10 else limit - (limit - 10) % 4)
    assert len(tried) == len(set(tried)) and len(tried) < 20


def test_layer():
    """Weights are what has no room: 6 + 6 input features, hidden times 4 bytes of the bank."""
    graph = small_graph()
    widest = largest_layer(SMALL, graph)
    assert widest > 0
    assert capacity._fits(SMALL, widest, graph)
    assert not capacity._fits(SMALL, widest + SMALL.lanes, graph)


def test_graph():
    """A channel of half the words holds fewer vertices."""
    sizes = [largest_graph(SMALL.replace(channel_words=words), features=2, hidden=2, classes=2)
             for words in (512, 1024)]
    assert 0 < sizes[0] < sizes[1]
