# SPDX-License-Identifier: BSD-2-Clause
"""Kernels of samplers do, bit for bit, what a few lines of NumPy do."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.graphs.sampling.sampling_kernels import draw_candidates, find_entries
from hypercast.host.graphs.sampling.seeds import generator_of
from tests.host.graphs.sampling.sampling_cases import matrices


def distinct(limits, count, generator):
    """Different numbers below each limit, (rows, count), by Floyd's algorithm."""
    chosen = np.empty((count, len(limits)), dtype=np.int64)
    for step in range(count):
        largest = limits - count + step
        candidate = generator.integers(largest + 1)
        taken = (chosen[:step] == candidate).any(axis=0)
        chosen[step] = np.where(taken, largest, candidate)
    return np.sort(chosen.T, axis=1)


def layer(matrix, destinations, fan_out, generator):
    """Dense (destinations, vertices) weights of the neighbours drawn, and the sources."""
    loops = matrix.diagonal()
    others = matrix.todense()
    np.fill_diagonal(others, 0)
    degrees = np.count_nonzero(others, axis=1)[destinations]
    many = degrees > fan_out
    drawn = iter(distinct(degrees[many], fan_out, generator))
    found = np.zeros((len(destinations), matrix.shape[0]))
    for row, (vertex, degree) in enumerate(zip(destinations, degrees, strict=True)):
        columns = np.flatnonzero(others[vertex])
        if degree > fan_out:
            columns = columns[next(drawn)]
        found[row, columns] = others[vertex, columns] * (degree / max(len(columns), 1))
        found[row, vertex] += loops[vertex]
    new = np.setdiff1d(np.flatnonzero(found.any(axis=0)), destinations)
    return found, np.concatenate([destinations, new])


@given(matrices(), st.lists(st.integers(1, 6), min_size=1, max_size=3), st.integers(0, 99))
def test_neighbours(matrix, fan_outs, seed):
    targets = np.arange(matrix.shape[0])
    sampler = NeighbourSampler(matrix, targets, fan_outs, batch_size=len(targets), seed=seed)
    batch, generator, level = sampler.batch(3, 0), generator_of(seed, 3, 1), None
    level = batch.targets
    for found, sources, fan_out in zip(
            reversed(batch.matrices), reversed(batch.levels[:-1]), fan_outs, strict=True):
        weights, level = layer(matrix, level, fan_out, generator)
        assert sources.tolist() == level.tolist()
        assert np.array_equal(found.todense(), weights[:, level])


@given(st.lists(st.one_of(st.integers(0, 40), st.integers(0, 2**31 - 8)), max_size=20),
       st.integers(1, 5), st.integers(0, 99))
def test_candidates(above, count, seed):
    """As NumPy draws them, of half of the numbers some anew."""
    limits = count + np.array(above, dtype=np.int64)
    bits = generator_of(seed).bit_generator.random_raw(200).astype("<u8").view(np.uint32)
    found = np.empty((len(limits), count), dtype=np.int32)
    used = draw_candidates(limits, count, bits, 0, found)
    generator = generator_of(seed)
    for step in range(count):
        assert found[:, step].tolist() == generator.integers(limits - count + step + 1).tolist()
    if used:
        assert draw_candidates(limits, count, bits[:used - 1], 0, found) == -1


@given(matrices(), st.data())
def test_entries(matrix, data):
    vertices = matrix.shape[0]
    members = np.array(sorted(data.draw(st.sets(st.integers(0, vertices - 1)))), dtype=np.int64)
    positions, numbers = np.empty(matrix.nnz, np.int64), np.empty(matrix.nnz, np.int32)
    starts = np.empty(len(members) + 1, dtype=np.int32)
    indices = matrix.indices.astype(np.int32)
    found = find_entries(
        matrix.indptr.astype(np.int64), indices, members, positions, numbers, starts)
    row = np.repeat(np.arange(vertices), np.diff(matrix.indptr))
    expected = np.flatnonzero(np.isin(row, members) & np.isin(matrix.indices, members))
    assert positions[:found].tolist() == expected.tolist()
    assert members[numbers[:found]].tolist() == matrix.indices[expected].tolist()
    assert np.diff(starts).tolist() == [np.count_nonzero(row[expected] == one) for one in members]
