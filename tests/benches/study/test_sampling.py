# SPDX-License-Identifier: BSD-2-Clause
"""Samples are samples, and drawn by degree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.benches.study.batch import SAMPLINGS, Batch, SampledLayer
from hypercast.benches.study.graphs import power_law
from hypercast.benches.study.sampling import ConfigurationModel


@given(st.integers(30, 300), st.integers(1, 20), st.integers(0, 1_000))
def test_neighbour_samples(vertices, mean, seed):
    degrees = power_law(vertices, mean * vertices)
    samples = ConfigurationModel(degrees, seed).neighbours(10, (3, 5))
    assert samples[0].destinations == len(samples[1].vertices)
    assert samples[1].destinations == 10
    for sample, fan_out in zip(samples, (5, 3), strict=True):
        count = sample.destinations
        assert len(np.unique(sample.vertices)) == len(sample.vertices)
        pairs = np.stack([sample.source, sample.destination])
        assert np.unique(pairs, axis=1).shape == pairs.shape
        drawn = np.bincount(sample.destination, minlength=count)
        assert len(drawn) == count
        assert (drawn <= np.minimum(degrees[sample.vertices[:count]], fan_out)).all()
        assert (sample.source != sample.destination).all()
        beyond = np.unique(sample.source[sample.source >= count])
        np.testing.assert_array_equal(beyond, np.arange(count, len(sample.vertices)))
        assert sample.matrix.nnz == sample.matrix.sum() == sample.block.entries
    np.testing.assert_array_equal(samples[0].vertices[:samples[0].destinations],
                                  samples[1].vertices)


def test_neighbours_are_drawn_by_degree():
    degrees = np.array([400, 200, 100, *[1] * 700])
    hits = np.zeros(3)
    for seed in range(40):
        sample, = ConfigurationModel(degrees, seed).neighbours(500, (1,))
        ends = sample.vertices[sample.source]
        hits += [np.count_nonzero(ends == vertex) for vertex in range(3)]
    # Of 500 ends in each of 40 samples.
    np.testing.assert_allclose(hits / (40 * 500), degrees[:3] / degrees.sum(), rtol=0.05)


def test_subgraphs_are_symmetric_and_have_the_expected_edges():
    degrees = power_law(2_000, 40_000)
    found, chance = [], []
    for seed in range(20):
        sample = ConfigurationModel(degrees, seed).subgraph(200)
        pairs = set(zip(sample.source.tolist(), sample.destination.tolist(), strict=True))
        assert len(pairs) == len(sample.source)
        assert pairs == {(b, a) for a, b in pairs} and all(a != b for a, b in pairs)
        own = degrees[sample.vertices].astype(float)
        rates = np.outer(own, own) / degrees.sum()
        np.fill_diagonal(rates, 0)
        found.append(len(pairs))
        chance.append(-np.expm1(-rates).sum())  # an edge drawn twice counts once
    assert np.mean(found) == pytest.approx(np.mean(chance), rel=0.03)


def test_batches_fit_together():
    assert SAMPLINGS["neighbour"].vertices == (102_483, 9_000, 1_024)
    assert SAMPLINGS["subgraph"].vertices == (2_750,) * 3
    with pytest.raises(ValueError, match="layer 1 makes 5 rows, but layer 2 reads 6"):
        Batch(blocks=(SampledLayer(sources=9, destinations=5, edges=20),
                      SampledLayer(sources=6, destinations=2, edges=4)))
