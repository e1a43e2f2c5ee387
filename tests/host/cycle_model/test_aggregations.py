# SPDX-License-Identifier: BSD-2-Clause
"""Expected loads, next to those counted on graphs that are drawn at random."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.compiler.messages import compile_messages
from hypercast.host.cycle_model import aggregations
from hypercast.host.cycle_model.aggregations import Expected
from hypercast.rtl.config import PRESETS, Config

VERTICES, DEGREE = 3_000, 4


def drawn(vertices, degree, seed):
    """As many edges of each source, to any targets."""
    targets = np.random.default_rng(seed).integers(vertices, size=vertices * degree)
    sources = np.repeat(np.arange(vertices), degree)
    return scipy.sparse.coo_array((np.ones(len(sources), dtype=np.int64), (targets, sources)),
                                  shape=(vertices, vertices)).tocsr()


@pytest.fixture(scope="module")
def matrix():
    return drawn(VERTICES, DEGREE, 0)


@pytest.mark.parametrize(("dimensions", "planes"), [
    (0, 1), (1, 1), (2, 1), (2, 2), (3, 4), (4, 1), (4, 2), (4, 4)])
def test_links_are_as_busy_as_the_planes_make_them(dimensions, planes, matrix):
    config = Config(dimensions=dimensions, planes=planes, accumulator_rows=4096)
    counted = compile_messages(matrix, config).load
    [expected] = Expected((VERTICES, VERTICES), (matrix.nnz,), config, "uniform").loads(1, False)
    # The busiest of some tens of links is above their mean, which grows a tenth at the most here.
    assert expected.links == pytest.approx(counted.links, rel=0.12)
    assert expected.messages == pytest.approx(counted.messages, rel=0.02)


@pytest.mark.parametrize("eject", [1, 2, 4])
@pytest.mark.parametrize(("vertices", "degree"), [(600, 1), (3_000, 4)])
def test_the_busiest_ports_are_as_busy_as_counted(vertices, degree, eject):
    """Messages leave the network by some ports, and edges arrive at others."""
    config = Config(dimensions=4, planes=4, eject=eject, accumulator_rows=4096)
    load = partial(compile_messages, config=config)
    counted = [load(drawn(vertices, degree, seed)).load for seed in range(8)]
    [expected] = Expected(
        (vertices, vertices), (vertices * degree,), config, "uniform").loads(1, False)
    for name in ("ejected", "arrivals"):
        busiest = np.mean([getattr(one, name) for one in counted])
        # The estimate is good to less than a standard deviation of what any port has.
        mean = busiest - 2 * busiest ** 0.5
        assert abs(getattr(expected, name) - busiest) < 0.8 * mean ** 0.5, name


@pytest.mark.parametrize("degree", [8, 20])
def test_words_of_edges_are_as_many_as_counted(degree):
    """The last word of each stream that has edges is half full in the mean."""
    config = PRESETS["vcu128"].replace(aggregation_rows=4096)
    matrix = drawn(3_000, degree, 1)
    found = compile_messages(matrix, config).load
    [expected] = Expected((3_000, 3_000), (matrix.nnz,), config, "uniform").loads(1, False)
    full = matrix.nnz / config.chunks
    assert expected.total_words - full == pytest.approx(found.total_words - full, rel=0.2)
    assert expected.edges == found.edges and expected.total_rows == found.total_rows
    assert expected.rows == found.rows
    assert found.streams - 0.1 * config.streams <= expected.streams + 1
    assert expected.streams <= found.streams


@pytest.mark.parametrize("law", aggregations.DEGREE_LAWS)
@pytest.mark.parametrize("vertices", [1_000, 1_001, 1_599])
def test_shares_of_strips_are_those_of_the_entries_of_their_rows(law, vertices):
    """Rows of a square matrix have as many entries as columns, the busiest first."""
    config = Config(dimensions=2, accumulator_rows=64)
    loads = Expected((vertices,) * 2, (40 * vertices,), config, law).loads(1, False)
    values, counts = aggregations.degree_counts(vertices, 40 * vertices, law)
    entries = np.repeat(values, counts)[::-1]
    expected = [entries[first:first + 256].sum() for first in range(0, vertices, 256)]
    assert [load.edges for load in loads] == pytest.approx(expected, rel=0.06)
    assert {load.total_rows for load in loads} == {vertices}


@pytest.mark.parametrize("backward", [False, True])
def test_edges_of_a_batch_lead_to_any_target(backward):
    """Each layer has its own; on the way back it is the other way round."""
    config = Config(dimensions=2, accumulator_rows=64)
    asked = Expected((900, 500, 100), (7_000, 2_000), config)
    for layer, edges in (1, 7_000), (2, 2_000):
        sources, targets = asked.vertices[layer - 1:layer + 1]
        if backward:
            sources, targets = targets, sources
        loads = asked.loads(layer, backward)
        assert [load.total_rows for load in loads] == [sources] * -(-targets // 256)
        shares = [min(256, targets - first) / targets for first in range(0, targets, 256)]
        assert [load.edges for load in loads] == pytest.approx(
            [share * edges for share in shares], abs=1)
        roots = asked.root_loads(layer, backward)
        assert sum(load.edges for load in roots) == min(sources, targets)


@pytest.mark.parametrize("law", aggregations.DEGREE_LAWS)
@pytest.mark.parametrize("vertices", [100, 1_536, 3_072, 40_000])
def test_a_few_strips_stand_for_many(vertices, law):
    """With the factor they have the edges and rows of all; up to six strips stand for themselves.
    """
    config = Config(dimensions=2, accumulator_rows=64)
    thinned = aggregations.Thinned(vertices, 9 * vertices, 2, config, law=law)
    whole = Expected((vertices,) * 3, (9 * vertices,) * 2, config, law)
    for layer in 1, 2:
        loads = thinned.loads(layer, False)
        assert len(loads) == min(6, -(-vertices // 256))
        assert thinned.factor * sum(load.edges for load in loads) == pytest.approx(
            sum(load.edges for load in whole.loads(layer, False)), rel=0.01)
        assert {load.total_rows for load in loads} == {vertices}
        roots = thinned.root_loads(layer, True)
        assert {(load.rows, load.total_rows) for load in roots} == {(-(-vertices // 4), vertices)}
        if vertices <= 1_536:
            assert thinned.factor == 1 and loads == whole.loads(layer, False)
    assert len(thinned.vertices) == 3


def test_sources_are_counted_one_by_one_up_to_a_million():
    """Each counted source stands for two, where there are twice as many."""
    most = 1 << 20
    values, counts = aggregations.degree_counts(most, 4 * most, "power")
    more, doubled = aggregations.degree_counts(2 * most, 8 * most, "power")
    assert counts.sum() == most and (counts % 2).any()
    assert np.array_equal(values, more) and np.array_equal(2 * counts, doubled)


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
