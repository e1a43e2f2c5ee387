# SPDX-License-Identifier: BSD-2-Clause
"""GraphSAINT's edge sampler."""

import numpy as np

from hypercast.errors import InputError
from hypercast.host.graphs.sampling.neighbourhoods import Neighbourhoods
from hypercast.host.graphs.sampling.weighted import WeightedDraw
from hypercast.reference.array_types import IntArray, SparseArray

__all__ = ["EdgeDraw"]


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
