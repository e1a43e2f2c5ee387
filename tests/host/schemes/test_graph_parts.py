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
    split_in_chunks,
)
from hypercast.reference.stale_rows import StaleChunks, StaleParts
from hypercast.reference.tensor import FEATURES, Kind, Tensor
from tests.host.models import small_graph, small_model
from tests.host.processes.thread_group import on_ranks

MODEL = small_model(small_graph(vertices=11))
H1 = Tensor(Kind.HIDDEN, 1)
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
        place.others.connect(group)
        rows = values[place.ranks].astype(np.int8)
        return [place.bring(lambda some: rows[some], 3, transposed=transposed,
                              name=H1, exponent=0) for transposed in (False, True)]

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
        assert first.rows_here.others.sent_rows(transposed=transposed) == {1: len(read)}
        assert second.rows_here.halo_rows(transposed=transposed) == len(read)
    alone, = parts_of(SAMPLE, dealt([0] * 11))
    assert alone.rows_here.others.sent_rows(transposed=False) == {}
    assert alone.rows_here.halo_rows(transposed=True) == 0


@given(st.integers(1, 11))
def test_a_chunk_has_its_own_of_everything(count):
    model, chunks = split_in_chunks(in_chunks(MODEL, count))
    graph, edges = model.sample.rows_here, SAMPLE.edges[0].toarray()
    assert len(chunks) == count
    assert sorted(rank for chunk in chunks for rank in chunk.rows_here.ranks) == list(range(11))
    for number, chunk in enumerate(chunks):
        rows_here, own = chunk.rows_here, np.flatnonzero(graph.chunks == number)
        assert rows_here.ranks.tolist() == own.tolist()
        for name in ("labels", "splits", "loss_weights"):
            assert np.array_equal(getattr(chunk, name), getattr(SAMPLE, name)[own])
        assert np.array_equal(chunk.features.values, SAMPLE.features.values[own])
        assert len(chunk.edges) == len(SAMPLE.edges)
        assert rows_here.count_trained(3) == SAMPLE.training_vertices
        for transposed, whole in ((False, edges), (True, edges.T)):
            local = rows_here.transpose(chunk.edges[0]) if transposed else chunk.edges[0]
            others = [rank for rank in np.flatnonzero(whole[own].any(0)) if rank not in own]
            assert rows_here.halo_rows(transposed=transposed) == len(others)
            assert np.array_equal(local.toarray(), whole[own][:, [*own, *others]])
            assert local.has_sorted_indices
        others = np.setdiff1d(np.flatnonzero(edges[own].any(0)), own)
        brought = rows_here.with_neighbours(chunk.features.values, transposed=False,
                                            name=FEATURES, exponent=0)
        assert np.array_equal(brought, SAMPLE.features.values[[*own, *others]])


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
