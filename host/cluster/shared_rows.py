"""A board's part of a graph: the rows of its own vertices, and those of others that it reads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.cluster.division import Division
from hypercast.host.cluster.group import Group
from hypercast.reference.array_types import IntArray, IntMatrix, SparseArray
from hypercast.reference.rows import AllRows
from hypercast.reference.sample import Sample

__all__ = ["SharedRows", "parts_of"]

Element = TypeVar("Element", bound=np.generic)


@dataclass(frozen=True)
class _Halo:
    """What crosses before rows are summed over neighbours in one direction.

    Parameters
    ----------
    sent : dict
        Board to the rows here that it reads.
    received : dict
        Board to how many of its rows are read here.
    """

    sent: Mapping[int, IntArray]
    received: Mapping[int, int]


class SharedRows(AllRows):
    """The rows of some vertices; others have the rest.

    Parameters
    ----------
    ranks : (R,) array of int
        Rank of each row's vertex, ascending.
    trained : int
        Vertices to train on, of all boards.
    outgoing : scipy.sparse array
        Transposed edges, a row for each vertex here; columns are rows here, then those of the halo.
    halos : dict
        Whether edges are transposed, to what crosses for them.
    element_width : int
        Bits of a mantissa.
    features : array or scipy.sparse array
        The rows of X here; those of others are asked for once, as they never change.
    """

    def __init__(self, ranks: IntArray, trained: int, outgoing: SparseArray,
                 halos: Mapping[bool, _Halo], element_width: int, features: IntMatrix) -> None:
        self._ranks = ranks
        self._trained = trained
        self._outgoing = outgoing
        self._halos = halos
        self._sent_type = np.dtype(f"int{element_width}")
        self._features = features
        self._all_features: IntMatrix | None = None
        self._group: Group | None = None

    def connect(self, group: Group) -> None:
        """From now on, rows of others come from them."""
        self._group = group

    @property
    def ranks(self) -> IntArray:
        return self._ranks

    def trained(self, count: int) -> int:
        return self._trained

    def transposed(self, edges: SparseArray) -> SparseArray:
        return self._outgoing

    def with_neighbours(self, matrix: npt.NDArray[Element] | SparseArray, *,
                        transposed: bool) -> npt.NDArray[Element] | SparseArray:
        if matrix is not self._features:
            return self._exchanged(matrix, self._halos[transposed])
        if self._all_features is None:
            self._all_features = self._exchanged(matrix, self._halos[transposed])
        return self._all_features

    def _exchanged(self, matrix: npt.NDArray[Element] | SparseArray,
                   halo: _Halo) -> npt.NDArray[Element] | SparseArray:
        width = matrix.shape[1]
        sent = {board: np.ascontiguousarray(_dense(matrix[rows]), dtype=self._sent_type)
                for board, rows in halo.sent.items()}
        received = {board: np.empty((count, width), dtype=self._sent_type)
                    for board, count in halo.received.items()}
        assert self._group
        self._group.exchange(sent, received)
        others = [received[board] for board in sorted(received)]
        if scipy.sparse.issparse(matrix):
            return scipy.sparse.csr_array(scipy.sparse.vstack(
                [matrix, *(scipy.sparse.csr_array(rows, dtype=matrix.dtype) for rows in others)]))
        return np.concatenate([matrix, *(rows.astype(matrix.dtype) for rows in others)])


def _dense(matrix: npt.NDArray[Element] | SparseArray) -> npt.NDArray[Element]:
    return matrix.toarray() if isinstance(matrix, scipy.sparse.csr_array) else matrix


def parts_of(sample: Sample, division: Division) -> Iterator[Sample]:
    """The part of a whole graph's sample that each board has, in order.

    Row ``k`` of the sample is the vertex of rank ``k``. So a vertex has the same dropout wherever
    it lies.
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
    for board, ranks in enumerate(own):
        halos = {transposed: _halo(own, outside[transposed], division.boards, board)
                 for transposed in directions}
        local = {transposed: _renumbered(rows[transposed][board], ranks, outside[transposed][board])
                 for transposed in directions}
        features = sample.features.values[ranks]
        place = SharedRows(ranks, sample.training_vertices, local[True], halos,
                           sample.element_width, features)
        yield replace(
            sample, edges=(local[False],) * len(sample.edges),
            features=sample.features._replace(values=features),
            labels=sample.labels[ranks], splits=sample.splits[ranks],
            loss_weights=sample.loss_weights[ranks], place=place)


def _outside(part: SparseArray, owner: IntArray, board: int) -> IntArray:
    """Vertices of other boards that edges name, board by board, each board's in order of ranks."""
    named = np.unique(part.indices)
    named = named[owner[named] != board]
    found: IntArray = named[np.argsort(owner[named], kind="stable")]
    return found


def _halo(own: list[IntArray], outside: list[IntArray], owner: IntArray, board: int) -> _Halo:
    """What a board sends and receives, from what each board reads of others."""
    sent = {}
    for other, named in enumerate(outside):
        mine = named[owner[named] == board]
        if len(mine):
            sent[other] = np.searchsorted(own[board], mine)
    counts = np.bincount(owner[outside[board]], minlength=len(own))
    return _Halo(sent=sent, received={
        other: int(count) for other, count in enumerate(counts) if count})


def _renumbered(part: SparseArray, ranks: IntArray, outside: IntArray) -> SparseArray:
    """Edges whose columns are rows here, then those of the halo."""
    place = np.zeros(part.shape[1], dtype=part.indices.dtype)
    place[ranks] = np.arange(len(ranks))
    place[outside] = len(ranks) + np.arange(len(outside))
    found = scipy.sparse.csr_array((part.data, place[part.indices], part.indptr),
                                   shape=(len(ranks), len(ranks) + len(outside)))
    found.sort_indices()
    return found
