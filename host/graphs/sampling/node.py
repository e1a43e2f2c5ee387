# SPDX-License-Identifier: BSD-2-Clause
"""GraphSAINT's node sampler."""

import numpy as np
import scipy.sparse

from hypercast.errors import InputError
from hypercast.host.graphs.sampling.weighted import WeightedDraw
from hypercast.reference.array_types import IntArray, SparseArray

__all__ = ["NodeDraw"]


class NodeDraw:
    """Vertices drawn by the squared norm of their columns, those whose features spread most.

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
