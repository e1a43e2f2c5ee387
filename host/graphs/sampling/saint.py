# SPDX-License-Identifier: BSD-2-Clause
"""GraphSAINT: a sample is a subgraph, and weights make up for how likely its parts are.

(Zeng et al., GraphSAINT: Graph Sampling Based Inductive Learning Method, 2020.)
"""

import itertools
from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.errors import InputError
from hypercast.host.files.kept_values import KeptValues
from hypercast.host.graphs.sampling.minibatch import MiniBatch
from hypercast.host.graphs.sampling.prefetch import prefetch
from hypercast.host.graphs.sampling.sampling_kernels import find_entries
from hypercast.host.graphs.sampling.seeds import generator_of
from hypercast.reference.array_types import IntArray, SparseArray

__all__ = ["SaintSampler", "Subgraph"]

#: Subgraphs from one line of progress to the next.
_ANNOUNCED = 100


class Subgraph(NamedTuple):
    """A subgraph of the pool: its vertices, positions and columns of its entries, starts of rows.
    """

    vertices: IntArray
    positions: IntArray
    columns: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]


class SaintSampler:
    """Mini-batches that are subgraphs, from a pool that is sampled in advance.

    ``C(v)`` of the pool's N subgraphs hold vertex v, ``C(u, v)`` both ends of the edge from u to v.
    Weights of edges are multiplied by ``C(v) / C(u, v)``: the mean of what a vertex aggregates,
    over its subgraphs, is what it aggregates in the graph. Its loss is multiplied by
    ``N / (C(v) V)``: the mean of a batch's loss, over the pool, is the mean loss of the graph's
    vertices. A subgraph is drawn from the seed of its number, and again if there was no room for
    it.

    Parameters
    ----------
    matrix : (V, V) scipy.sparse array
        What is aggregated, of the graph to train on (see ``Graph.among``).
    draw : NodeDraw, EdgeDraw or RandomWalkDraw
        Draws the vertices of a subgraph.
    layers : int
        Layers of the network; all have the same matrix.
    coverage : float
        How often a vertex is in the pool, in the mean. A pool lasts for that many epochs; then it
        is gone through in another order.
    seed : int
        Seed of everything that is drawn.
    workers : int
        Threads that sample the pool; it is the same with any number.
    progress : callable
        Called with a line of text now and then while they do.
    kept : KeptValues, optional
        Where subgraphs that were drawn are kept.

    Attributes
    ----------
    visits : (V,) numpy.ndarray of int64
        Subgraphs of the pool with each vertex; vertices with 0 are never trained on.
    pool : int
        Subgraphs of the pool.

    Raises
    ------
    InputError
        If an argument is out of range.
    """

    def __init__(self, matrix: SparseArray, draw: Callable[[np.random.Generator], IntArray], *,
                 layers: int, coverage: float = 50, seed: int = 0, workers: int = 2,
                 progress: Callable[[str], None] = lambda text: None,
                 kept: KeptValues[Subgraph] | None = None) -> None:
        if layers < 1 or not coverage > 0:
            raise InputError(f"layers must be at least 1 and coverage above 0, not {layers} and "
                             f"{coverage}")
        self._matrix = scipy.sparse.csr_array(matrix, dtype=np.float64)
        self._starts: IntArray = self._matrix.indptr.astype(np.int64)
        self._columns = self._matrix.indices.astype(np.int32, copy=False)
        self._draw = draw
        self._layers = layers
        self._coverage = coverage
        self._seed = seed
        self._order = lru_cache(maxsize=2)(self._shuffle)
        self._kept = kept or KeptValues[Subgraph]()
        self._sample_pool(workers, progress)

    def __len__(self) -> int:
        """Batches of an epoch."""
        return max(1, round(self.pool / self._coverage))

    @property
    def heaviest(self) -> float:
        """Largest loss weight of any batch."""
        return float(self.pool / (self.visits[self.visits > 0].min() * len(self.visits)))

    def batch(self, epoch: int, number: int) -> MiniBatch:
        """The ``MiniBatch`` of this number, below ``len``, of an epoch; any thread may ask."""
        turn, place = divmod(epoch * len(self) + number, self.pool)
        subgraph = int(self._order(turn)[place])
        vertices, positions, columns, starts = self._subgraph(subgraph)
        visits = np.repeat(self.visits[vertices], np.diff(starts))
        weights = self._matrix.data[positions] * visits / self._edge_visits[positions]
        matrix = scipy.sparse.csr_array((weights, columns, starts), shape=(len(vertices),) * 2)
        return MiniBatch(
            levels=(vertices,) * (self._layers + 1), matrices=(matrix,) * self._layers,
            number=subgraph,
            loss_weights=self.pool / (self.visits[vertices] * len(self.visits)))

    def _shuffle(self, turn: int) -> IntArray:
        return generator_of(self._seed, 1, turn).permutation(self.pool)

    def _sample_pool(self, workers: int, progress: Callable[[str], None]) -> None:
        vertices = self._matrix.shape[0]
        self.visits = np.zeros(vertices, dtype=np.int64)
        self._edge_visits = np.zeros(self._matrix.nnz, dtype=np.int32)
        drawn = self.pool = 0
        subgraphs = prefetch(self._subgraph, itertools.count(), workers=workers)
        while drawn < self._coverage * vertices:
            if self.pool % _ANNOUNCED == 0:
                progress(f"sampling subgraphs in advance, "
                         f"{100 * drawn / (self._coverage * vertices):.0f} % done")
            members, positions, *_ = next(subgraphs)
            self.visits[members] += 1
            self._edge_visits[positions] += 1
            drawn += len(members)
            self.pool += 1
        subgraphs.close()

    def _subgraph(self, number: int) -> Subgraph:
        return self._kept.value_of(number, partial(self._draw_sample, number))

    def _draw_sample(self, number: int) -> Subgraph:
        vertices = self._draw(generator_of(self._seed, 0, number))
        most = int((self._starts[vertices + 1] - self._starts[vertices]).sum())
        positions, columns = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int32)
        starts = np.empty(len(vertices) + 1, dtype=np.int32)
        found = find_entries(self._starts, self._columns, vertices, positions, columns, starts)
        return Subgraph(vertices, positions[:found].copy(), columns[:found].copy(), starts)
