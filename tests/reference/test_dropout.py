# SPDX-License-Identifier: BSD-2-Clause
"""Dropout: its constants, and what it does to matrices."""

import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.reference.arithmetic import keep_mask
from hypercast.reference.dropout import LAYER_KEY_INCREMENT, Dropout


@given(st.integers(0, 65535))
def test_dropout_scale_is_the_reciprocal_of_what_is_kept(threshold):
    dropout = Dropout.from_rate(threshold / 65536, 1)
    assert dropout.threshold == threshold
    assert dropout.multiplier == 0 or 32768 < dropout.multiplier < 65536
    assert dropout.scale == pytest.approx(65536 / (65536 - threshold), rel=2**-16)


@pytest.mark.parametrize(("rate", "exponent"), [(0, 0), (0.5, 1), (0.75, 2)])
def test_dropout_scale_is_exact_for_powers_of_two(rate, exponent):
    dropout = Dropout.from_rate(rate, 1)
    assert (dropout.exponent, dropout.multiplier) == (exponent, 0)


def test_dropout_applies_the_same_to_dense_and_sparse():
    dropout = Dropout.from_rate(0.3, 2)
    dense = np.arange(1, 1 + 40 * 30).reshape(40, 30)
    sparse = dropout.apply(scipy.sparse.csr_array(dense), 5)
    kept = dropout.apply(dense, 5)
    assert np.array_equal(sparse.todense(), kept)
    assert np.isin(kept, (0, *dense.ravel())).all()
    # 1200 Bernoulli trials: five standard deviations.
    assert abs(np.mean(kept == 0) - 0.3) < 5 * math.sqrt(0.3 * 0.7 / 1200)
    assert not np.array_equal(kept, dropout.apply(dense, 6))
    assert not np.array_equal(kept, Dropout.from_rate(0.3, 1).apply(dense, 5))


@pytest.mark.parametrize("rate", [-0.1, 1.0, 0.999999])
def test_dropout_out_of_range(rate):
    with pytest.raises(ValueError, match=f"below 1, not {rate}"):
        Dropout.from_rate(rate, 1)


def test_nothing_is_dropped_without_a_threshold():
    matrix = np.ones((2, 2))
    assert Dropout.from_rate(0, 1).apply(matrix, 0) is matrix
    assert not Dropout(threshold=65535).apply(matrix, 0).all()


@given(st.integers(1, 9), st.integers(0, 2**33))
def test_keys(layer, step_key):
    """Keys of layer and step are added, modulo 2**32."""
    dropout = Dropout.from_rate(0.25, layer)
    assert dropout.key == layer * LAYER_KEY_INCREMENT % 2**32
    ranks, features = np.arange(9)[:, None], np.arange(8)
    expected = keep_mask((dropout.key + step_key) % 2**32, 1 << 14, ranks, features)
    assert np.array_equal(dropout.keep(step_key, ranks, features), expected)
    assert np.array_equal(dropout.apply(np.ones((9, 8)), step_key), expected)


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_of_other_ranks(sparse):
    """Some rows of a matrix have what they have in the whole of it."""
    dropout = Dropout.from_rate(0.5, 2)
    matrix = np.arange(1, 61).reshape(12, 5)
    ranks = np.array([1, 4, 5, 11])
    part = scipy.sparse.csr_array(matrix[ranks]) if sparse else matrix[ranks]
    found = dropout.apply(part, 7, ranks)
    expected = dropout.apply(matrix, 7)[ranks]
    assert np.array_equal(found.toarray() if sparse else found, expected)
    assert 0 < np.count_nonzero(expected) < expected.size
