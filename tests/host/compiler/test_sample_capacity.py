# SPDX-License-Identifier: BSD-2-Clause
"""Capacity for samples, by what some of them take."""

import math
from types import SimpleNamespace

import pytest

from hypercast.host.compiler.sample_capacity import SLACK, Capacity
from tests.host.compiler.test_sample_plan import samples_of


def test_capacity():
    """A slack beyond the largest sample, relative to the first one; edges by the matrix that grows
    most.
    """
    _, (small, large) = samples_of(20, 100)
    assert Capacity.of([small]).edges == 1 + SLACK
    rows = tuple(math.ceil(count * (1 + SLACK)) for count in large.rows)
    for samples in ([large], [small, large], [large, small]):
        assert Capacity.of(samples).rows == rows
    ratio = max(map(large.sent_edges, large.edges)) / max(map(small.sent_edges, small.edges))
    assert Capacity.of([small, large]).edges == pytest.approx((1 + SLACK) * ratio)
    assert Capacity.of([large, small]).edges == 1 + SLACK


@pytest.mark.parametrize(("edges", "roots", "ratio"), [
    ((1, 5), (0, 0), 5), ((0, 5), (0, 0), 5), ((4, 2), (1, 3), 3), ((6, 3), (2, 0), 1)])
def test_capacity_for_what_grows_most(edges, roots, ratio):
    """Edges, or rows that are added; none count as one."""
    samples = [SimpleNamespace(rows=(7, 9), edges=(None,), sent_edges=lambda _, count=count: count,
                               sent_roots=added) for count, added in zip(edges, roots, strict=True)]
    found = Capacity.of(samples)
    assert found.edges == pytest.approx((1 + SLACK) * ratio)
    assert found.rows == (math.ceil(7 * (1 + SLACK)), math.ceil(9 * (1 + SLACK)))
