# SPDX-License-Identifier: BSD-2-Clause
"""GraphSAINT's random-walk sampler."""

import numpy as np

from hypercast.errors import InputError
from hypercast.host.graphs.sampling.neighbourhoods import Neighbourhoods
from hypercast.reference.array_types import IntArray, SparseArray

__all__ = ["RandomWalkDraw"]


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
