# SPDX-License-Identifier: BSD-2-Clause
"""GraphSAINT's samplers: vertices drawn as nodes, by edges, or on random walks."""

import numpy as np
import scipy.sparse

from hypercast.errors import InputError
from hypercast.host.graphs.sampling.neighbourhoods import Neighbourhoods
from hypercast.reference.array_types import FloatArray, IntArray, SparseArray

__all__ = ["EdgeDraw", "NodeDraw", "RandomWalkDraw", "WeightedDraw"]


class WeightedDraw:
    """Draws numbers with replacement.

    Parameters
    ----------
    weights : (N,) array of float
        What the probability of each number is proportional to; not negative, and not all zero.
    """

    def __init__(self, weights: FloatArray) -> None:
        self._ends = np.cumsum(weights)
        if len(self._ends) == 0 or not self._ends[-1] > 0:
            raise InputError("there is nothing to draw from: all weights are zero")

    def __call__(self, count: int, generator: np.random.Generator) -> IntArray:
        """``count`` numbers in increasing order, (count,) int64."""
        places = np.sort(generator.random(count)) * self._ends[-1]
        numbers: IntArray = np.searchsorted(self._ends, places, side="right")
        return numbers


class NodeDraw:
    """Vertices drawn by the squared norm of their columns: often, if their features spread far.

    (Zeng et al., GraphSAINT: Graph Sampling Based Inductive Learning Method, 2020, section 3.4.)

    Parameters
    ----------
    matrix : (V, V) scipy.sparse array
        What is aggregated.
    budget : int
        Draws per sample, with replacement.
    """

    def __init__(self, matrix: SparseArray, budget: int) -> None:
        if budget < 1:
            raise InputError(f"budget must be at least 1, not {budget}")
        matrix = scipy.sparse.csr_array(matrix)
        squares = np.bincount(matrix.indices, weights=matrix.data**2, minlength=matrix.shape[1])
        self._drawn = WeightedDraw(squares.astype(np.float64))
        self._budget = budget

    def __call__(self, generator: np.random.Generator) -> IntArray:
        """The vertices of a sample: increasing, (S,) int64."""
        return np.unique(self._drawn(self._budget, generator))


class EdgeDraw:
    """Both ends of edges, drawn by the sum of the inverses of their degrees.

    (Zeng et al., GraphSAINT: Graph Sampling Based Inductive Learning Method, 2020, section 3.3.)

    Parameters
    ----------
    matrix : (V, V) scipy.sparse array
        What is aggregated; its loops are no edges here. A vertex's degree counts the edges that
        lead to it and from it.
    budget : int
        Edges drawn per sample, with replacement.
    """

    def __init__(self, matrix: SparseArray, budget: int) -> None:
        if budget < 1:
            raise InputError(f"budget must be at least 1, not {budget}")
        of = Neighbourhoods(matrix)
        if not of.columns.size:
            raise InputError("there is nothing to draw from: the graph, of the vertices to train "
                             "on, has no edges; draw nodes or walks instead")
        self._targets = np.repeat(np.arange(of.vertices), of.degrees)
        self._sources = of.columns
        degrees = of.degrees + np.bincount(of.columns, minlength=of.vertices)
        inverse = np.divide(1.0, degrees, out=np.zeros(of.vertices), where=degrees > 0)
        self._drawn = WeightedDraw(inverse[self._targets] + inverse[self._sources])
        self._budget = budget

    def __call__(self, generator: np.random.Generator) -> IntArray:
        """The vertices of a sample: increasing, (S,) int64."""
        edges = self._drawn(self._budget, generator)
        return np.unique(np.concatenate([self._targets[edges], self._sources[edges]]))


class RandomWalkDraw:
    """All vertices on random walks.

    (Zeng et al., GraphSAINT: Graph Sampling Based Inductive Learning Method, 2020, algorithm 2.)

    Parameters
    ----------
    matrix : (V, V) scipy.sparse array
        What is aggregated. A walk goes from a row to one of the columns of its entries but the
        loop, all alike, and stays where there is none.
    roots : int
        Walks per sample; they start at vertices drawn with replacement.
    length : int
        Steps of a walk.
    """

    def __init__(self, matrix: SparseArray, roots: int, length: int) -> None:
        if roots < 1 or length < 0:
            raise InputError(f"roots must be at least 1 and length at least 0, not {roots} and "
                             f"{length}")
        self._neighbourhoods = Neighbourhoods(matrix)
        self._roots = roots
        self._length = length

    def __call__(self, generator: np.random.Generator) -> IntArray:
        """The vertices of a sample: increasing, (S,) int64."""
        of = self._neighbourhoods
        walks = [generator.integers(of.vertices, size=self._roots)]
        for _ in range(self._length):
            starts = of.starts[walks[-1]]
            degrees = of.starts[walks[-1] + 1] - starts
            drawn = generator.integers(np.maximum(degrees, 1))
            walks.append(walks[-1].copy())
            moves = np.flatnonzero(degrees)
            walks[-1][moves] = of.columns[(starts + drawn)[moves]]
        return np.unique(np.concatenate(walks))
