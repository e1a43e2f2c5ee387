# SPDX-License-Identifier: BSD-2-Clause
"""The hypercube's links."""

from collections import Counter

import pytest

from hypercast.rtl.network.topology import links, neighbour


@pytest.mark.parametrize("dimensions", range(7))
def test_every_link_has_its_opposite(dimensions):
    every = links(dimensions)
    assert len(every) == len(set(every)) == dimensions << dimensions
    for core, dimension in every:
        other = neighbour(core, dimension)
        assert (other, dimension) in every
        assert neighbour(other, dimension) == core


def test_neighbours_differ_in_one_bit():
    assert [neighbour(5, dimension) for dimension in range(4)] == [4, 7, 1, 13]
    assert Counter(core for core, _ in links(3)) == {core: 3 for core in range(8)}
