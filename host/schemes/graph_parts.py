# SPDX-License-Identifier: BSD-2-Clause
"""Divides a whole graph's sample into parts of boards, or into chunks that follow each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse

from hypercast.host.cluster.division import Division
from hypercast.host.cluster.vertex_work import vertex_work
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.schemes.chunk_rows import ChunkNeighbours, GraphInChunks
from hypercast.host.schemes.halo_exchange import Halo, HaloExchange, LateRows
from hypercast.host.schemes.part_rows import OtherRows, PartRows
from hypercast.reference.array_types import IntArray, SparseArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.sample import Mantissas, Sample
from hypercast.reference.stale_rows import StaleChunks, StaleParts

__all__ = ["divide", "in_chunks", "in_stale_parts", "parts_of", "split_in_chunks"]


def parts_of(sample: Sample, division: Division,
             smoothing: int | None = None) -> Iterator[Sample]:
    """The part of a whole graph's sample that each board has, in order.

    Row ``k`` of the sample is the vertex of rank ``k``. So a vertex has the same dropout wherever
    it lies.

    Parameters
    ----------
    sample : Sample
        The whole graph's.
    division : Division
        Which board has which vertex.
    smoothing : int, optional
        If it is given, halos are stale, see ``KeptRows``.
    """
    edges = sample.edges[0]
    assert all(other is edges for other in sample.edges), "layers have different edges"
    boards = len(division.edges)
    own = [np.flatnonzero(division.boards == board) for board in range(boards)]
    directions = {False: edges, True: edges.T.tocsr()}
    rows = {transposed: [matrix[ranks] for ranks in own]
            for transposed, matrix in directions.items()}
    outside = {transposed: [_outside(part, division.boards, board)
                            for board, part in enumerate(parts)]
               for transposed, parts in rows.items()}
    read = {} if smoothing is None else {
        transposed: np.unique(np.concatenate(named)) for transposed, named in outside.items()}
    for board, ranks in enumerate(own):
        late = None if smoothing is None else LateRows(
            {transposed: (np.searchsorted(read[transposed], named[board]), len(read[transposed]))
             for transposed, named in outside.items()}, sample.element_width, smoothing)
        yield _part(
            sample, ranks, {transposed: found[board] for transposed, found in rows.items()},
            {transposed: named[board] for transposed, named in outside.items()},
            HaloExchange({transposed: _halo(own, named, division.boards, board)
                          for transposed, named in outside.items()}, sample.element_width, late))


def split_in_chunks(model: InitialModel) -> tuple[InitialModel, list[Sample]]:
    """Split the graph of a model into chunks that read each other's rows, see ``in_chunks``.

    Parameters
    ----------
    model : InitialModel
        The model of ``in_chunks``, whose ``rows_here`` is ``StaleChunks``.

    Returns
    -------
    tuple
        The model of the whole graph, whose ``rows_here`` is ``GraphInChunks``; and the chunks, in
        order.
    """
    sample = model.sample
    edges, stale = sample.edges[0], sample.rows_here
    assert isinstance(stale, StaleChunks)
    graph = GraphInChunks(stale.parts, edges, sample.element_width)
    directions = {False: edges, True: edges.T.tocsr()}
    chunks = []
    for number in range(int(graph.chunks.max()) + 1):
        ranks = np.flatnonzero(graph.chunks == number)
        rows = {transposed: matrix[ranks] for transposed, matrix in directions.items()}
        named = {transposed: np.setdiff1d(matrix.indices, ranks).astype(np.int64)
                 for transposed, matrix in rows.items()}
        chunks.append(_part(sample, ranks, rows, named, ChunkNeighbours(
            graph, ranks, named, sample.features.values)))
    return model.with_sample(replace(sample, rows_here=graph)), chunks


def _part(sample: Sample, ranks: IntArray, rows: Mapping[bool, SparseArray],
          named: Mapping[bool, IntArray], others: OtherRows) -> Sample:
    """The part of a whole graph's sample that has some vertices.

    Parameters
    ----------
    sample : Sample
        The whole graph's.
    ranks : (R,) array of int
        Ranks of the vertices, ascending.
    rows : dict
        Whether edges are transposed, to the rows of their matrix that are here.
    named : dict
        Whether edges are transposed, to the ranks of others that they name, in the order of
        ``others``.
    others : OtherRows
        The rows of others.
    """
    local = {transposed: _renumber(matrix, ranks, named[transposed])
             for transposed, matrix in rows.items()}
    return replace(
        sample, edges=(local[False],) * len(sample.edges),
        features=Mantissas(sample.features.values[ranks], sample.features.exponent),
        labels=sample.labels[ranks], splits=sample.splits[ranks],
        loss_weights=sample.loss_weights[ranks],
        rows_here=PartRows(ranks, sample.training_vertices, local[True], others))


def divide(model: InitialModel, boards: int, parts: Sequence[float] = ()) -> Division:
    """Which board has which vertex of a model's whole graph, so that all have as much to do.

    With stale rows, bits depend on it. It follows from the network, the graph and the parts alone.

    Parameters
    ----------
    model : InitialModel
        The whole graph's.
    boards, parts
        As of ``Division.of``.
    """
    return Division.of(model.sample.edges[0], boards, parts, vertex_work(model.network))


def in_stale_parts(model: InitialModel, parts: Sequence[float], smoothing: int) -> InitialModel:
    """A whole graph's model in parts with stale halos, for one process.

    Parameters
    ----------
    model : InitialModel
        The whole graph's.
    parts : sequence of float
        The share of the work of each part, divided as boards would be.
    smoothing : int
        See ``KeptRows``.
    """
    sample, division = model.sample, divide(model, len(parts), parts)
    return model.with_sample(replace(sample, rows_here=StaleParts(
        division.boards, sample.edges[0], sample.element_width, smoothing)))


def in_chunks(model: InitialModel, count: int) -> InitialModel:
    """A whole graph's model in chunks that follow each other, for one process.

    They are about as much work each.

    Raises
    ------
    DescriptionError
        If there are more chunks than vertices.
    """
    sample = model.sample
    vertices = len(sample.labels)
    if count > vertices:
        raise DescriptionError(f"{count} chunks share {vertices} vertices, but each needs one; "
                               f"take {vertices} chunks or fewer")
    return model.with_sample(replace(sample, rows_here=StaleChunks(
        divide(model, count).boards, sample.edges[0], sample.element_width)))


def _outside(part: SparseArray, owner: IntArray, board: int) -> IntArray:
    """Vertices of other boards that edges name, board by board, each board's in order of ranks."""
    some = np.zeros(len(owner), dtype=bool)
    some[part.indices] = True
    named = np.flatnonzero(some & (owner != board))
    found: IntArray = named[np.argsort(owner[named], kind="stable")]
    return found


def _halo(own: list[IntArray], outside: list[IntArray], owner: IntArray, board: int) -> Halo:
    """The rows that a board sends and receives, by the rows that each board reads of others."""
    sent = {}
    for other, named in enumerate(outside):
        mine = named[owner[named] == board]
        if len(mine):
            sent[other] = np.searchsorted(own[board], mine)
    counts = np.bincount(owner[outside[board]], minlength=len(own))
    return Halo(sent=sent, received={
        other: int(count) for other, count in enumerate(counts) if count})


def _renumber(part: SparseArray, ranks: IntArray, outside: IntArray) -> SparseArray:
    """Edges whose columns are rows here, then edges from the halo."""
    place = np.zeros(part.shape[1], dtype=part.indices.dtype)
    place[ranks] = np.arange(len(ranks))
    place[outside] = len(ranks) + np.arange(len(outside))
    found = scipy.sparse.csr_array((part.data, place[part.indices], part.indptr),
                                   shape=(len(ranks), len(ranks) + len(outside)))
    found.sort_indices()
    return found
