# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a whole graph: each board's rows and edges, and what it sends and receives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.cluster.division import Division
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.schemes.graph_parts import (
    divide,
    in_chunks,
    in_stale_parts,
    parts_of,
    renumber,
)
from hypercast.reference.stale_rows import StaleChunks, StaleParts
from tests.host.models import small_graph, small_model
from tests.host.processes.thread_group import on_ranks

MODEL = small_model(small_graph(vertices=11))
SAMPLE = MODEL.sample


def dealt(owner):
    return Division.count(SAMPLE.edges[0], np.array(owner), max(owner) + 1)


@st.composite
def owners(draw):
    """A board of each vertex; each board has one at least."""
    boards = draw(st.integers(1, 4))
    rest = draw(st.lists(st.integers(0, boards - 1), min_size=11 - boards, max_size=11 - boards))
    return draw(st.permutations([*range(boards), *rest]))


@given(owners(), st.none() | st.integers(0, 9))
def test_each_board_has_its_rows_and_brings_the_others(owner, smoothing):
    """Sums over neighbours of the rows here and those brought are those of the whole graph."""
    division = dealt(owner)
    parts = list(parts_of(SAMPLE, division, smoothing))
    values = np.random.default_rng(0).integers(-99, 99, (11, 3))
    edges = SAMPLE.edges[0].toarray()
    for board, part in enumerate(parts):
        own = np.flatnonzero(division.boards == board)
        assert part.rows_here.ranks.tolist() == own.tolist()
        for name in ("labels", "splits", "loss_weights"):
            assert np.array_equal(getattr(part, name), getattr(SAMPLE, name)[own]), name
        assert np.array_equal(part.features.values, SAMPLE.features.values[own])
        assert part.features.exponent == SAMPLE.features.exponent
        assert part.rows_here.count_trained(1) == SAMPLE.training_vertices
        assert len(part.edges) == len(SAMPLE.edges) and part.edges[0] is part.edges[1]
        for transposed, whole in ((False, edges), (True, edges.T)):
            local = part.rows_here.transpose(part.edges[0]) if transposed else part.edges[0]
            others = [rank for other in range(len(parts)) if other != board
                      for rank in np.flatnonzero((division.boards == other) & whole[own].any(0))]
            assert part.rows_here.halo_rows(transposed=transposed) == len(others)
            assert np.array_equal(local.toarray(), whole[own][:, [*own, *others]])
            assert local.has_sorted_indices

    def bring(group):
        place = parts[group.rank].rows_here
        place.connect(group)
        rows = values[place.ranks].astype(np.int8)
        return [place.bring(lambda some: rows[some], 3, transposed=transposed,
                              name=None, exponent=0) for transposed in (False, True)]

    if smoothing is None:
        for board, found in enumerate(on_ranks(len(parts), bring)):
            own = division.boards == board
            for whole, rows in zip((edges, edges.T), found, strict=True):
                others = [rank for other in range(len(parts)) if other != board for rank in
                          np.flatnonzero((division.boards == other) & whole[own].any(0))]
                assert np.array_equal(rows, values[others])


def test_rows_that_are_read_by_nobody_are_not_sent():
    first, second = parts_of(SAMPLE, dealt([0] * 5 + [1] * 6))
    edges = SAMPLE.edges[0].toarray()
    for transposed, whole in ((False, edges), (True, edges.T)):
        read = np.flatnonzero(whole[5:, :5].any(0))
        assert first.rows_here.sent_rows(transposed=transposed) == {1: len(read)}
        assert second.rows_here.halo_rows(transposed=transposed) == len(read)
    alone, = parts_of(SAMPLE, dealt([0] * 11))
    assert alone.rows_here.sent_rows(transposed=False) == {}
    assert alone.rows_here.halo_rows(transposed=True) == 0


def test_columns_are_rows_here_and_then_those_of_the_halo():
    edges = SAMPLE.edges[0]
    own, others = np.array([2, 5, 7]), np.array([9, 0, 1, 3, 4, 6, 8, 10])
    found = renumber(edges[own], own, others)
    assert np.array_equal(found.toarray(), edges.toarray()[own][:, [*own, *others]])
    assert found.has_sorted_indices


def test_one_process_has_the_parts_that_boards_would_have():
    division = divide(MODEL, 3, [0.5, 0.3, 0.2])
    stale = in_stale_parts(MODEL, [0.5, 0.3, 0.2], 7).sample.rows_here
    assert isinstance(stale, StaleParts) and np.array_equal(stale.parts, division.boards)
    chunks = in_chunks(MODEL, 4).sample.rows_here
    assert isinstance(chunks, StaleChunks)
    assert np.array_equal(chunks.parts, divide(MODEL, 4).boards)
    assert in_chunks(MODEL, 11).sample.rows_here.parts.tolist() != [0] * 11
    with pytest.raises(DescriptionError, match=(
            r"^12 chunks share 11 vertices, but each needs one; take 11 chunks or fewer$")):
        in_chunks(MODEL, 12)
