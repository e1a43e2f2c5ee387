# SPDX-License-Identifier: BSD-2-Clause
"""Neighbour sampling: at most so many neighbours of each vertex, layer by layer.

(Hamilton, Ying and Leskovec, Inductive Representation Learning on Large Graphs, 2017.)
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.errors import InputError
from hypercast.host.graphs.sampling.minibatch import MiniBatch
from hypercast.host.graphs.sampling.neighbourhoods import Neighbourhoods, relabel_vertices
from hypercast.host.graphs.sampling.sampling_kernels import (
    count_neighbours,
    draw_candidates,
    draw_neighbours,
)
from hypercast.host.graphs.sampling.seeds import generator_of
from hypercast.reference.array_types import IntArray, SparseArray

__all__ = ["NeighbourSampler"]

#: Words of random bits that are drawn beyond the words that are needed for sure.
_SPARE = 64


class NeighbourSampler:
    """Mini-batches of some targets each, and neighbours drawn without replacement.

    A vertex with more neighbours than the fan-out keeps that many, all sets alike; their weights
    are multiplied by the share of neighbours that each stands for, so a sum over the sample has
    the expected value of the sum over all. Loops are always kept.

    Parameters
    ----------
    matrix : (V, V) scipy.sparse array
        What is aggregated, such as ``Graph.normalise`` returns.
    targets : (T,) array of int
        Vertices of the last level, each once; an epoch has each in one batch.
    fan_outs : sequence of int
        Neighbours drawn at most per vertex, from the last layer down.
    batch_size : int
        Targets of a batch; the last of an epoch may have fewer.
    seed : int
        Seed of everything that is drawn.

    Raises
    ------
    InputError
        If an argument is out of range.
    """

    def __init__(self, matrix: SparseArray, targets: IntArray, fan_outs: Sequence[int], *,
                 batch_size: int, seed: int = 0) -> None:
        self._neighbourhoods = Neighbourhoods(matrix)
        self._targets = np.unique(np.asarray(targets, dtype=np.int64))
        self._batch_size = batch_size
        self._seed = seed
        vertices = self._neighbourhoods.vertices
        if len(self._targets) == 0 or len(self._targets) != len(targets):
            raise InputError(f"there are {len(self._targets)} different vertices among "
                             f"{len(targets)} targets; give at least one, and each once")
        if self._targets[0] < 0 or self._targets[-1] >= vertices:
            raise InputError(f"targets go from {self._targets[0]} to {self._targets[-1]}, but "
                             f"vertices are 0 to {vertices - 1}")
        for name, value in (("batch_size", batch_size), *(("fan-outs", one) for one in fan_outs)):
            if value < 1:
                raise InputError(f"{name} must be at least 1, not {value}")
        # More than the most neighbours is all of them, and takes no memory.
        most = int(np.diff(self._neighbourhoods.starts).max(initial=1))
        self._fan_outs = tuple(min(fan_out, most) for fan_out in fan_outs)
        self._order = lru_cache(maxsize=2)(self._shuffle)

    def __len__(self) -> int:
        """Batches of an epoch."""
        return -(-len(self._targets) // self._batch_size)

    @property
    def heaviest(self) -> float:
        """Largest loss weight of any batch: of the last batch's targets."""
        return 1 / (len(self._targets) - (len(self) - 1) * self._batch_size)

    def batch(self, epoch: int, number: int) -> MiniBatch:
        """The ``MiniBatch`` of this number, below ``len``, of an epoch; any thread may ask."""
        first = number * self._batch_size
        destinations = self._order(epoch)[first:first + self._batch_size]
        bits = _RandomBits(generator_of(self._seed, epoch, 1 + number))
        levels, matrices = [destinations], []
        for fan_out in self._fan_outs:
            sources, matrix = self._layer(levels[-1], fan_out, bits)
            levels.append(sources)
            matrices.append(matrix)
        weights = np.full(len(destinations), 1 / len(destinations))
        return MiniBatch(levels=tuple(reversed(levels)), matrices=tuple(reversed(matrices)),
                         loss_weights=weights)

    def _shuffle(self, epoch: int) -> IntArray:
        return generator_of(self._seed, epoch, 0).permutation(self._targets)

    def _layer(self, destinations: IntArray, fan_out: int,
               bits: "_RandomBits") -> tuple[IntArray, SparseArray]:
        """The sources, and the (destinations, sources) matrix."""
        of = self._neighbourhoods
        starts = np.empty(len(destinations) + 1, dtype=np.int32)
        degrees = np.empty(len(destinations), dtype=np.int64)
        many = count_neighbours(of.starts, of.loops, destinations, fan_out, starts, degrees)
        candidates = bits.candidates(degrees[:many], fan_out)
        drawn, weights = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1])
        draw_neighbours(of.starts, of.columns, of.weights, of.loops, destinations, fan_out,
                        candidates, starts, drawn, weights)
        sources, columns = relabel_vertices(destinations, drawn, of.vertices)
        return sources, scipy.sparse.csr_array(
            (weights, columns, starts), shape=(len(destinations), len(sources)))


class _RandomBits:
    """Random bits of a generator, in 32-bit parts, as many as are asked for.

    Parameters
    ----------
    generator : numpy.random.Generator
        A generator whose bit generator gives 64 bits at a time, the lower half first.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator.bit_generator
        self._bits = np.zeros(0, dtype=np.uint32)
        self._first = 0

    def candidates(self, limits: IntArray, count: int) -> npt.NDArray[np.int32]:
        """The (rows, count) candidates of ``draw_candidates`` for rows with these limits."""
        found = np.empty((len(limits), count), dtype=np.int32)
        missing = self._first + found.size - len(self._bits)
        while True:
            if missing > 0:
                words = self._generator.random_raw(missing // 2 + _SPARE)
                self._bits = np.concatenate([self._bits, words.astype("<u8").view(np.uint32)])
            first = draw_candidates(limits, count, self._bits, self._first, found)
            if first >= 0:
                self._first = first
                return found
            missing = _SPARE
