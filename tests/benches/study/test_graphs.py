# SPDX-License-Identifier: BSD-2-Clause
"""Degrees of the study's graphs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.benches.study.graphs import GRAPHS, power_law


@given(st.integers(1, 500), st.integers(0, 100_000))
def test_power_law_has_its_sum(count, total):
    degrees = power_law(count, total)
    assert degrees.shape == (count,) and degrees.sum() == total and (degrees >= 0).all()


def test_power_law_falls_with_the_root_of_the_rank():
    degrees = power_law(10_000, 10_000_000)
    ranks = np.array([1, 10, 100, 1_000, 10_000])
    np.testing.assert_allclose(degrees[ranks - 1] * np.sqrt(ranks), degrees[0], rtol=0.02)


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_have_their_edges(name):
    degrees = GRAPHS[name].degrees()
    assert len(degrees) == GRAPHS[name].vertices and degrees.sum() == GRAPHS[name].edges
    assert 1 <= degrees.min() and degrees.max() < GRAPHS[name].vertices
