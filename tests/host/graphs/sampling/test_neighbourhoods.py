# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.graphs.sampling.neighbourhoods import Neighbourhoods, relabel_vertices
from tests.host.graphs.sampling.sampling_cases import matrices

VERTICES = st.lists(st.integers(0, 299), max_size=40)
MEMBERS = st.lists(st.integers(0, 299), unique=True, max_size=20)


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


@given(MEMBERS, VERTICES)
def test_relabelled(destinations, neighbours):
    sources, numbers = relabel_vertices(array(destinations), array(neighbours), 300)
    assert sources.tolist() == destinations + sorted(set(neighbours) - set(destinations))
    assert sources[numbers].tolist() == neighbours


def test_matrices_must_be_square():
    with pytest.raises(ValueError, match=r"the matrix has shape \(2, 3\); it must be square"):
        Neighbourhoods(np.ones((2, 3)))
