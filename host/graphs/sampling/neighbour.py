"""Neighbour sampling: at most so many neighbours of each vertex, layer by layer.

(Hamilton, Ying and Leskovec, Inductive Representation Learning on Large Graphs, 2017.)
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.graphs.sampling.minibatch import MiniBatch
from hypercast.host.graphs.sampling.neighbourhoods import Neighbourhoods, relabelled
from hypercast.host.graphs.sampling.seeds import generator_of
from hypercast.reference.array_types import FloatArray, IntArray, SparseArray

__all__ = ["NeighbourSampler", "distinct"]


class NeighbourSampler:
    """Mini-batches of some targets each, and neighbours drawn without replacement.

    A vertex with more neighbours than the fan-out keeps that many, all sets alike; their weights
    are multiplied by the share of neighbours that each stands for, so a sum over the sample has
    the expected value of the sum over all. Loops are always kept.

    Parameters
    ----------
    matrix : (V, V) scipy.sparse array
        What is aggregated, such as ``Graph.normalised`` returns.
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
    ValueError
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
            raise ValueError(f"there are {len(self._targets)} different vertices among "
                             f"{len(targets)} targets; give at least one, and each once")
        if self._targets[0] < 0 or self._targets[-1] >= vertices:
            raise ValueError(f"targets go from {self._targets[0]} to {self._targets[-1]}, but "
                             f"vertices are 0 to {vertices - 1}")
        for name, value in (("batch_size", batch_size), *(("fan-outs", one) for one in fan_outs)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        # More than the most neighbours is all of them, and takes no memory.
        most = int(np.diff(self._neighbourhoods.starts).max(initial=1))
        self._fan_outs = tuple(min(fan_out, most) for fan_out in fan_outs)
        self._order = lru_cache(maxsize=2)(self._shuffle)

    def __len__(self) -> int:
        """Batches of an epoch."""
        return -(-len(self._targets) // self._batch_size)

    @property
    def heaviest(self) -> float:
        """Largest loss weight of any batch: that of the last one's targets."""
        return 1 / (len(self._targets) - (len(self) - 1) * self._batch_size)

    def batch(self, epoch: int, number: int) -> MiniBatch:
        """The ``MiniBatch`` of this number, below ``len``, of an epoch; any thread may ask."""
        first = number * self._batch_size
        destinations = self._order(epoch)[first:first + self._batch_size]
        generator = generator_of(self._seed, epoch, 1 + number)
        levels, matrices = [destinations], []
        for fan_out in self._fan_outs:
            sources, matrix = self._layer(levels[-1], fan_out, generator)
            levels.append(sources)
            matrices.append(matrix)
        weights = np.full(len(destinations), 1 / len(destinations))
        return MiniBatch(levels=tuple(reversed(levels)), matrices=tuple(reversed(matrices)),
                         loss_weights=weights)

    def _shuffle(self, epoch: int) -> IntArray:
        return generator_of(self._seed, epoch, 0).permutation(self._targets)

    def _layer(self, destinations: IntArray, fan_out: int,
               generator: np.random.Generator) -> tuple[IntArray, SparseArray]:
        """The sources, and the (destinations, sources) matrix."""
        of = self._neighbourhoods
        degrees = of.starts[destinations + 1] - of.starts[destinations]
        offsets = np.tile(np.arange(fan_out), (len(destinations), 1))
        many = np.flatnonzero(degrees > fan_out)
        offsets[many] = distinct(degrees[many], fan_out, generator)
        kept = np.minimum(degrees, fan_out)
        drawn = np.arange(fan_out) < kept[:, None]
        positions = (of.starts[destinations][:, None] + offsets)[drawn]
        sources, columns = relabelled(destinations, of.columns[positions], of.vertices)
        scale = degrees / np.maximum(kept, 1)
        return sources, _with_loops(
            of.loops[destinations], kept, columns,
            of.weights[positions] * np.repeat(scale, kept), len(sources))


def distinct(limits: IntArray, count: int, generator: np.random.Generator) -> IntArray:
    """Different numbers for each of many rows, all sets alike.

    (Floyd's algorithm, in Bentley, Programming Pearls: A Sample of Brilliance, 1987.)

    Parameters
    ----------
    limits : (R,) array of int
        Numbers of a row are below its limit, which is at least ``count``.
    count : int
        How many numbers to draw.
    generator : numpy.random.Generator
        Where they are drawn from.

    Returns
    -------
    numpy.ndarray
        (R, count) int64, increasing in each row.
    """
    chosen = np.empty((count, len(limits)), dtype=np.int64)
    for step in range(count):
        largest = limits - count + step
        candidate = generator.integers(largest + 1)
        taken = (chosen[:step] == candidate).any(axis=0)
        chosen[step] = np.where(taken, largest, candidate)
    return np.sort(chosen.T, axis=1)


def _with_loops(loops: FloatArray, counts: IntArray, columns: npt.NDArray[np.int32],
                weights: FloatArray, sources: int) -> SparseArray:
    """A CSR array of rows with ``counts`` entries each, and of loops that are not zero."""
    looped = np.flatnonzero(loops)
    starts = np.concatenate(([0], np.cumsum(counts)))
    columns = np.insert(columns, starts[looped], looped)
    weights = np.insert(weights, starts[looped], loops[looped])
    starts[1:] += np.cumsum(loops != 0)
    return scipy.sparse.csr_array((weights, columns, starts), shape=(len(counts), sources))
