# SPDX-License-Identifier: BSD-2-Clause
"""Word-sparse images hold the matrix, and no more words than they need."""

import tracemalloc

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.sparse_words import MAXIMUM_ROWS, SparseWords, index_words
from hypercast.rtl.config import PRESETS
from tests.host.sparse_model import indexed_panels

CONFIGS = [PRESETS["tiny"], PRESETS["test"], PRESETS["test"].replace(element_width=8),
           PRESETS["cora"]]


@st.composite
def matrices(draw):
    """A matrix, as an array and as it is given to the packer."""
    rows, columns = draw(st.integers(0, 40)), draw(st.integers(1, 50))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = generator.integers(-128, 128, (rows, columns))
    values[generator.random(values.shape) >= draw(st.sampled_from([0.0, 0.05, 0.5, 1.0]))] = 0
    return values, draw(st.sampled_from([np.asarray, scipy.sparse.csr_array]))(values)


@given(matrices(), st.sampled_from(CONFIGS), st.data())
def test_indices_lead_to_the_matrix(case, config, data):
    values, matrix = case
    sparse = SparseWords.of(matrix, config)
    rows, columns = values.shape
    padded = np.zeros((rows, -(-columns // config.lanes) * config.lanes), dtype=np.int64)
    padded[:, :columns] = values
    panels = np.split(padded, padded.shape[1] // config.lanes, axis=1)
    first = data.draw(st.integers(0, len(panels) - 1))
    count = data.draw(st.integers(1, len(panels) - first))
    index = sparse.index(9, config, first, count)
    assert len(index) == index_words(count, config)
    found = list(indexed_panels(sparse.words, index, 9, config))[:count]
    for panel, stored, (numbers, words) in zip(
            panels[first:first + count], sparse.counts[first:first + count], found, strict=True):
        kept = np.flatnonzero(panel.any(axis=1))
        expected = kept if len(kept) or not rows else [0]
        assert numbers == list(expected)
        assert stored == len(expected)
        assert np.array_equal(words, panel[expected])


def test_stored_zeros_are_zeros():
    config = PRESETS["tiny"]
    matrix = scipy.sparse.csr_array(([0, 5, 0], ([0, 1, 2], [0, 1, 3])), shape=(3, 4))
    assert SparseWords.of(matrix, config).sizes.tolist() == [2, 2]


def test_sparse_features_are_never_dense():
    """A core's part of 10,000 vertices with 16,384 features."""
    shape = (625, 16_384)
    matrix = scipy.sparse.random_array(shape, density=0.001, rng=np.random.default_rng(0)) != 0
    tracemalloc.start()
    sparse = SparseWords.of(scipy.sparse.csr_array(matrix, dtype=np.int64), PRESETS["cora"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < shape[0] * shape[1] * 2
    assert len(sparse.words) < 2 * matrix.nnz


def test_the_last_row_has_the_last_number():
    """One more would be none."""
    config = PRESETS["tiny"]
    matrix = scipy.sparse.csr_array(([3], ([MAXIMUM_ROWS - 1], [0])), shape=(MAXIMUM_ROWS, 1))
    sparse = SparseWords.of(matrix, config)
    [(numbers, words), *_] = indexed_panels(sparse.words, sparse.index(0, config, 0, 1), 0, config)
    assert numbers == [MAXIMUM_ROWS - 1] and words.tolist() == [[3, 0]]
    assert (MAXIMUM_ROWS + 1).bit_length() == 17


def test_no_rows_take_no_words():
    config = PRESETS["tiny"]
    found = SparseWords.of(np.zeros((0, 2 * config.lanes + 1), dtype=np.int64), config)
    assert found.words.shape == (0, config.chunks)
    assert found.sizes.tolist() == found.counts.tolist() == [0, 0, 0]
