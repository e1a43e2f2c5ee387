import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.graphs.sampling.neighbourhoods import (
    Neighbourhoods,
    entries_of,
    numbers_of,
    relabelled,
)
from tests.host.graphs.sampling.sampling_cases import matrices

VERTICES = st.lists(st.integers(0, 29), max_size=40)
MEMBERS = st.lists(st.integers(0, 29), unique=True, max_size=20)


def array(values):
    return np.array(values, dtype=np.int64)


@given(matrices())
def test_loops_are_taken_apart(matrix):
    of = Neighbourhoods(matrix)
    rows = np.repeat(np.arange(of.vertices), of.degrees)
    dense = np.diag(of.loops)
    dense[rows, of.columns] = of.weights
    assert dense.tolist() == matrix.todense().tolist()
    assert (rows != of.columns).all() and of.starts[-1] == len(of.columns)


@given(matrices(), st.data())
def test_entries(matrix, data):
    rows = array(data.draw(st.lists(st.integers(0, matrix.shape[0] - 1), max_size=20)))
    positions, row = entries_of(matrix.indptr, rows)
    expected = [(index, place) for index, number in enumerate(rows.tolist())
                for place in range(matrix.indptr[number], matrix.indptr[number + 1])]
    assert list(zip(row.tolist(), positions.tolist(), strict=True)) == expected


@given(MEMBERS, VERTICES)
def test_numbers(members, vertices):
    found = numbers_of(array(members), array(vertices), 30)
    assert found.tolist() == [members.index(one) if one in members else -1 for one in vertices]


@given(MEMBERS, VERTICES)
def test_relabelled(destinations, neighbours):
    sources, numbers = relabelled(array(destinations), array(neighbours), 30)
    assert sources.tolist() == destinations + sorted(set(neighbours) - set(destinations))
    assert sources[numbers].tolist() == neighbours


def test_matrices_must_be_square():
    with pytest.raises(ValueError, match=r"the matrix has shape \(2, 3\); it must be square"):
        Neighbourhoods(np.ones((2, 3)))
