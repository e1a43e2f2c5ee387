# SPDX-License-Identifier: BSD-2-Clause
"""Placement: every vertex has one place, and cores hold as many as each other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hypercast.rtl.placement import core_of, rank_of, row_of, rows_of

all_cores = st.integers(0, 6).map(lambda dimensions: 1 << dimensions)


@given(st.integers(0, 1 << 24), all_cores)
def test_rank_of_inverts(rank, cores):
    core, row = core_of(rank, cores), row_of(rank, cores)
    assert 0 <= core < cores
    assert rank_of(core, row, cores) == rank


@given(st.integers(0, 1000), all_cores)
def test_rows_of_counts(vertices, cores):
    held = np.bincount(core_of(np.arange(vertices), cores), minlength=cores)
    assert [rows_of(core, vertices, cores) for core in range(cores)] == held.tolist()
    assert held.max() - held.min() <= 1


@given(st.integers(0, 1000), all_cores)
def test_rows_are_filled_from_the_first(vertices, cores):
    for core in range(cores):
        rows = [rank_of(core, row, cores) for row in range(rows_of(core, vertices, cores))]
        assert all(rank < vertices for rank in rows)
        assert rows == sorted(rows)


def test_snake_order():
    assert core_of(np.arange(12), 4).tolist() == [0, 1, 2, 3, 3, 2, 1, 0, 0, 1, 2, 3]
    assert row_of(np.arange(12), 4).tolist() == [0] * 4 + [1] * 4 + [2] * 4
