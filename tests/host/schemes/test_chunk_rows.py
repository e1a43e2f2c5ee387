# SPDX-License-Identifier: BSD-2-Clause
"""Chunks one by one find the rows that all of them find at once."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.schemes.graph_parts import in_chunks, split_in_chunks
from hypercast.reference.tensor import FEATURES, Kind, Pass, Tensor
from tests.host.models import small_graph, small_model

MODEL = in_chunks(small_model(small_graph(vertices=11)), 3)
H1, DZ1 = Tensor(Kind.HIDDEN, 1), Tensor(Kind.GRADIENT, 1)


@given(st.integers(0, 99), st.lists(st.integers(-12, -8), min_size=2, max_size=4), st.booleans())
def test_the_rows_of_one_process(seed, exponents, transposed):
    """In each step, which may have another exponent; the first one is exact."""
    random, name = np.random.default_rng(seed), DZ1 if transposed else H1
    whole = deepcopy(MODEL.sample.rows_here)  # which keeps rows from step to step
    model, chunks = split_in_chunks(MODEL)
    graph, edges = model.sample.rows_here, MODEL.sample.edges[0]
    matrix = whole.transpose(edges) if transposed else whole.forward(edges)
    for step, exponent in enumerate(exponents):
        rows = random.integers(-2000, 2000, (11, 2)).astype(np.int16)
        expected = matrix @ whole.with_neighbours(
            rows, transposed=transposed, name=name, exponent=exponent)
        found = np.zeros_like(expected)
        if step == 0:
            both = edges.T if transposed else edges
            assert graph.with_neighbours(rows, transposed=transposed, name=name,
                                         exponent=exponent) is rows
            found[...] = both @ rows
        else:
            for chunk in chunks[::-1] if transposed else chunks:
                place, ranks = chunk.rows_here, chunk.rows_here.ranks
                local = place.transpose(chunk.edges[0]) if transposed else chunk.edges[0]
                brought = place.with_neighbours(rows[ranks], transposed=transposed, name=name,
                                                exponent=exponent)
                assert brought.dtype == rows.dtype
                found[ranks] = local @ brought
        assert np.array_equal(found, expected)
        for place in (graph, whole):
            place.end_step()
        if step:
            assert graph.kept.keys() == whole.kept.keys() == {name}
            assert np.array_equal(graph.kept[name].values, whole.kept[name].values)
            assert graph.kept[name].exponent == whole.kept[name].exponent == exponent - 8


def test_what_is_exact_is_not_kept():
    graph = split_in_chunks(MODEL)[0].sample.rows_here
    rows = np.ones((11, 2), dtype=np.int16)
    for name in (FEATURES, H1.in_pass(Pass.EVALUATION)):
        assert graph.with_neighbours(rows, transposed=False, name=name, exponent=0) is rows
    graph.end_step()
    assert graph.kept == {}


def test_what_is_kept_goes_on_elsewhere():
    one, other = (split_in_chunks(MODEL)[0].sample.rows_here for _ in range(2))
    rows = np.arange(22).reshape(11, 2)
    one.with_neighbours(rows, transposed=False, name=H1, exponent=-3)
    one.end_step()
    other.keep(one.kept)
    taken = [place.collect(H1, np.array([0]), rows[:1], -3, transposed=False)
             for place in (one, other)]
    assert np.array_equal(*taken)
    with pytest.raises(KeyError):
        one.collect(DZ1, np.array([0]), rows[:1], -3, transposed=True)
