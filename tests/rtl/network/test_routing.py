# SPDX-License-Identifier: BSD-2-Clause
"""The routing delivers every multicast exactly once, over shortest paths.

Destinations are relative to the sender and no rule looks at an address, so what holds for one
source holds for all; a test compares a sample of sources.
"""

import numpy as np
import pytest

from hypercast.rtl.network import routing
from hypercast.rtl.network.topology import neighbour

SIZES = [(dimensions, plane) for dimensions in range(5) for plane in range(4)]


def test_dimension_order_rotates():
    assert routing.dimension_order(0, 4) == (0, 1, 2, 3)
    assert routing.dimension_order(3, 4) == (3, 0, 1, 2)
    assert routing.dimension_order(3, 2) == (1, 0)
    assert routing.dimension_order(2, 0) == ()


def test_outputs_are_the_later_dimensions():
    assert routing.outputs(1, None, 4) == (1, 2, 3, 0)
    assert routing.outputs(1, 2, 4) == (3, 0)
    assert routing.outputs(1, 0, 4) == ()


@pytest.mark.parametrize("dimensions", range(7))
@pytest.mark.parametrize("plane", range(4))
def test_first_hops_cut_all_destinations_in_disjoint_parts(dimensions, plane):
    parts = (1, *routing.first_hops(plane, dimensions))
    assert sum(parts) == (1 << (1 << dimensions)) - 1
    assert sum(part.bit_count() for part in parts) == 1 << dimensions


@pytest.mark.parametrize("dimensions", range(1, 7))
def test_hop_moves_bit_k_to_k_xor_the_dimension(dimensions):
    for dimension in range(dimensions):
        for core in range(1 << dimensions):
            assert routing.hop(1 << core, dimension, dimensions) == 1 << (core ^ 1 << dimension)


@pytest.mark.parametrize(("dimensions", "plane"), SIZES)
def test_every_flit_reaches_its_destinations_exactly_once(dimensions, plane):
    cores = 1 << dimensions
    sets = np.arange(1 << cores, dtype=np.int64)
    delivered = np.zeros((cores, len(sets)), dtype=np.int64)
    flits = [(0, None, sets)]
    for core, arrival, held in flits:
        local, branches = routing.split(held, plane, arrival, dimensions)
        assert np.array_equal(held != 0, local + sum(map(np.sign, branches.values())) > 0), \
            "a destination was lost"
        delivered[core] += local
        flits.extend((neighbour(core, dimension), dimension, branch)
                     for dimension, branch in branches.items())
    assert np.array_equal(delivered, sets >> np.arange(cores)[:, None] & 1)


@pytest.mark.parametrize("dimensions", range(4))
@pytest.mark.parametrize("plane", range(4))
def test_trees_are_minimal(dimensions, plane):
    for destinations in range(1 << (1 << dimensions)):
        distance = {0: 0}
        for core, dimension in routing.tree(destinations, plane, dimensions):
            other = neighbour(core, dimension)
            assert other not in distance, "two paths to one core"
            distance[other] = distance[core] + 1
        for core in range(1 << dimensions):
            assert core in distance or not destinations >> core & 1, "a destination was not reached"
        assert all(hops == core.bit_count() for core, hops in distance.items())


def test_trees_do_not_depend_on_the_source():
    rng = np.random.default_rng(1)
    for _ in range(200):
        destinations, plane, source = (int(rng.integers(limit)) for limit in (1 << 16, 4, 16))
        relative = [(core ^ source, dimension)
                    for core, dimension in routing.tree(destinations, plane, 4, source)]
        assert relative == routing.tree(destinations, plane, 4)


def test_a_flit_forks_only_where_paths_part():
    # Cores 5 (dimensions 0, 2) and 7 (0, 1, 2) share the first hop in plane 0 and none in plane 1.
    destinations = 1 << 5 | 1 << 7
    assert routing.tree(destinations, 0, 3) == [(0, 0), (1, 1), (1, 2), (3, 2)]
    assert routing.tree(destinations, 1, 3) == [(0, 1), (0, 2), (2, 2), (4, 0), (6, 0)]
