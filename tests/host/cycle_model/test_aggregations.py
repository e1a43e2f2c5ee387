# SPDX-License-Identifier: BSD-2-Clause
"""Expected loads, next to those counted on graphs that are drawn at random."""

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.compiler.messages import compile_messages
from hypercast.host.cycle_model import aggregations
from hypercast.host.cycle_model.aggregations import Expected
from hypercast.rtl.config import Config

VERTICES, DEGREE = 3_000, 4


@pytest.fixture(scope="module")
def matrix():
    """As many edges of each source, to any targets."""
    targets = np.random.default_rng(0).integers(VERTICES, size=VERTICES * DEGREE)
    sources = np.repeat(np.arange(VERTICES), DEGREE)
    return scipy.sparse.coo_array((np.ones(len(sources), dtype=np.int64), (targets, sources)),
                                  shape=(VERTICES, VERTICES)).tocsr()


@pytest.mark.parametrize(("dimensions", "planes"), [
    (0, 1), (1, 1), (2, 1), (2, 2), (3, 4), (4, 1), (4, 2), (4, 4)])
def test_links_are_as_busy_as_the_planes_make_them(dimensions, planes, matrix):
    config = Config(dimensions=dimensions, planes=planes, accumulator_rows=4096)
    counted = compile_messages(matrix, config).load
    [expected] = Expected((VERTICES, VERTICES), (matrix.nnz,), config, "uniform").loads(1, False)
    # The busiest of some tens of links is above their mean, which grows a tenth at the most here.
    assert expected.links == pytest.approx(counted.links, rel=0.12)
    assert expected.messages == pytest.approx(counted.messages, rel=0.02)


@pytest.mark.parametrize("law", aggregations.DEGREE_LAWS)
@pytest.mark.parametrize(("sources", "edges"), [
    (30_000, 120_000), (31_111, 2_000_003), (9_000, 99)])
def test_many_sources_are_counted_in_groups(monkeypatch, law, sources, edges):
    """As if each was counted: all of them, with about as many entries, read by as many cores."""
    def numbers():
        aggregations.degree_counts.cache_clear()
        values, counts = aggregations.degree_counts(sources, edges, law)
        assert np.all(np.diff(values) > 0) and np.all(counts >= 0)
        return counts.sum(), values @ counts, (1 - (15 / 16) ** values) @ counts

    expected = numbers()
    monkeypatch.setattr(aggregations, "_COUNTED", 2_000)
    found = numbers()
    aggregations.degree_counts.cache_clear()
    assert found[0] == expected[0] == sources
    assert found[1:] == pytest.approx(expected[1:], rel=0.02, abs=sources / 500)
