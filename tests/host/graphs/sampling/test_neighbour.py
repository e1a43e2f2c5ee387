# SPDX-License-Identifier: BSD-2-Clause
"""Neighbour samples are parts of the graph, never too large, unbiased, and the same everywhere."""

import hashlib
import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.graphs.sampling.seeds import generator_of
from tests.host.graphs.sampling.sampling_cases import deviation, matrices, matrix_of

BITS = "53fe996888e193099829eb1b3a4ca57c8e9badbcf049abcfc8f3e0f9c1cb5cb9"
FAN_OUTS = st.lists(st.integers(1, 6), min_size=1, max_size=3)


def digest(batch):
    """A digest of everything in a batch."""
    parts = [*batch.levels, batch.loss_weights]
    for matrix in batch.matrices:
        parts += [matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


@given(matrices(), FAN_OUTS, st.integers(1, 9), st.integers(0, 9))
def test_samples(matrix, fan_outs, batch_size, seed):
    targets = np.arange(0, matrix.shape[0], 2)
    sampler = NeighbourSampler(matrix, targets, fan_outs, batch_size=batch_size, seed=seed)
    seen = []
    for number in range(len(sampler)):
        batch = sampler.batch(0, number)
        seen += batch.targets.tolist()
        assert batch.loss_weights.tolist() == [1 / len(batch.targets)] * len(batch.targets)
        assert len(batch.matrices) == len(fan_outs) == len(batch.levels) - 1
        assert batch.inputs is batch.levels[0]
        for part, fan_out, (sources, destinations) in zip(
                batch.matrices, reversed(fan_outs), itertools.pairwise(batch.levels),
                strict=True):
            check_layer(matrix, part, fan_out, sources, destinations)
    assert sorted(seen) == targets.tolist()


def check_layer(matrix, part, fan_out, sources, destinations):
    assert part.shape == (len(destinations), len(sources))
    assert sources[:len(destinations)].tolist() == destinations.tolist()
    assert len(np.unique(sources)) == len(sources)
    part.check_format(full_check=True)
    own, dense = part.todense(), matrix[destinations].todense()
    loops = own[np.arange(len(destinations)), np.arange(len(destinations))]
    assert loops.tolist() == matrix.diagonal()[destinations].tolist()
    np.fill_diagonal(own, 0)
    dense[np.arange(len(destinations)), destinations] = 0
    degrees, kept = np.count_nonzero(dense, axis=1), np.count_nonzero(own, axis=1)
    assert kept.tolist() == np.minimum(degrees, fan_out).tolist()
    assert part.nnz == kept.sum() + np.count_nonzero(loops)
    rows, columns = np.nonzero(own)
    whole = dense[rows, sources[columns]]
    assert whole.all()  # what was drawn are edges
    np.testing.assert_allclose(own[rows, columns], whole * (degrees / np.maximum(kept, 1))[rows])
    # Nothing is read in vain.
    assert set(range(len(sources))) == set(columns) | set(range(len(destinations)))


def test_a_sum_has_the_expected_value_of_the_whole():
    matrix = matrix_of(40, 600)
    features = np.linspace(0, 1, 40)
    exact = matrix @ features
    degrees = np.diff(matrix.indptr) - 1
    sampler = NeighbourSampler(matrix, np.arange(40), [3], batch_size=40)
    epochs = 1_000
    total = np.zeros(40)
    for epoch in range(epochs):
        batch = sampler.batch(epoch, 0)
        total[batch.targets] += batch.matrices[0] @ features[batch.inputs]
    assert degrees.max() > 10
    # Weights are below 1, features at most 1: a sum without its loop is between 0 and the degree.
    assert (abs(total / epochs - exact) <= degrees * deviation(epochs, 40)).all()


def test_all_sets_are_drawn_alike():
    """Each of many vertices has six neighbours, and three of them are drawn."""
    rows = 40_000
    columns = np.tile(np.arange(6), rows)
    matrix = scipy.sparse.csr_array(
        (np.ones(len(columns)), columns, np.arange(rows + 1) * 6), shape=(rows, rows))
    targets = np.arange(6, rows)  # the first six have a loop
    batch = NeighbourSampler(matrix, targets, [3], batch_size=rows).batch(0, 0)
    chosen = np.sort(batch.inputs[batch.matrices[0].indices].reshape(-1, 3))
    sets, counts = np.unique(chosen, axis=0, return_counts=True)
    assert sets.tolist() == [list(one) for one in itertools.combinations(range(6), 3)]
    assert abs(counts / len(targets) - 1 / 20).max() <= deviation(len(targets), 20)


def test_these_bits():
    """The same on every machine, whatever was drawn before."""
    sampler = NeighbourSampler(matrix_of(50, 900), np.arange(50), (4, 7), batch_size=20, seed=3)
    assert digest(sampler.batch(2, 1)) == BITS
    sampler.batch(0, 0)
    assert digest(sampler.batch(2, 1)) == BITS


def test_everything_changes_the_sample():
    def batch(epoch=0, number=0, seed=0):
        return digest(NeighbourSampler(
            matrix_of(50, 900), np.arange(50), (4, 7), batch_size=20, seed=seed
            ).batch(epoch, number))
    assert len({batch(), batch(epoch=1), batch(number=1), batch(seed=1)}) == 4


def test_generators_are_of_pcg64():
    assert generator_of(1, 2, 3).integers(1 << 62) == 412824962483097654


@pytest.mark.parametrize(("changes", "message"), [
    ({"targets": []}, "0 different vertices among 0 targets; give at least one"),
    ({"targets": [1, 1]}, "1 different vertices among 2 targets; give at least one, and each once"),
    ({"targets": [0, 9]}, "targets go from 0 to 9, but vertices are 0 to 4"),
    ({"fan_outs": (3, 0)}, "fan-outs must be at least 1, not 0"),
    ({"batch_size": 0}, "batch_size must be at least 1, not 0"),
    ({"matrix": np.ones((2, 3))}, r"the matrix has shape \(2, 3\); it must be square"),
])
def test_refusals(changes, message):
    arguments = {"matrix": matrix_of(5, 9), "targets": [0], "fan_outs": (2,), "batch_size": 4}
    with pytest.raises(ValueError, match=message):
        NeighbourSampler(**arguments | changes)
