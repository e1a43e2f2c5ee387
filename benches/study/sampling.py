# SPDX-License-Identifier: BSD-2-Clause
"""Samples of graphs that are never built: neighbours are drawn by degree.

In the configuration model each edge ends at a vertex with a probability proportional to its degree
(Newman, Networks, 2010), so neighbours can be drawn when they are asked for. Drawing takes memory
for the degrees and the sample only. An edge that is drawn twice counts once; a vertex that is
sampled in two layers draws anew in each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from hypercast.benches.study.batch import SampledLayer
from hypercast.host.graphs.sampling.neighbourhoods import relabel_vertices
from hypercast.reference.array_types import IntArray

__all__ = ["ConfigurationModel", "LayerSample"]


@dataclass(frozen=True, kw_only=True)
class LayerSample:
    """One layer's sampled edges, without loops.

    Parameters
    ----------
    vertices : (S,) array of int
        The sources; the first ``destinations`` of them are also destinations.
    destinations : int
        Number of destinations.
    source, destination : (E,) array of int
        Ends of each edge, as indices into ``vertices``.
    """

    vertices: np.ndarray
    destinations: int
    source: np.ndarray
    destination: np.ndarray

    @property
    def block(self) -> SampledLayer:
        """Sizes of the sample."""
        return SampledLayer(sources=len(self.vertices), destinations=self.destinations,
                            edges=len(self.source))

    @property
    def matrix(self) -> scipy.sparse.csr_array:
        """(destinations, S) scipy.sparse.csr_array of the edges and a loop at each destination."""
        loops = np.arange(self.destinations)
        source = np.concatenate([self.source, loops])
        destination = np.concatenate([self.destination, loops])
        return scipy.sparse.csr_array(
            (np.ones(len(source), dtype=np.int64), (destination, source)),
            shape=(self.destinations, len(self.vertices)))


class ConfigurationModel:
    """A random graph with given degrees.

    Parameters
    ----------
    degrees : (V,) array of int
        Degree of each vertex.
    seed : int
        Seed of everything that is drawn.
    """

    def __init__(self, degrees: IntArray, seed: int = 0) -> None:
        self._degrees = np.asarray(degrees)
        self._ends = np.cumsum(self._degrees)
        self._random = np.random.default_rng(seed)

    def neighbours(self, targets: int, fan_outs: Sequence[int]) -> tuple[LayerSample, ...]:
        """Neighbour sampling from ``targets`` random vertices on.

        Parameters
        ----------
        targets : int
            Vertices of the last layer.
        fan_outs : sequence of int
            Neighbours drawn at most per vertex, from the last layer down.

        Returns
        -------
        tuple of LayerSample
            First layer to last.
        """
        vertices = self._random.choice(len(self._degrees), targets, replace=False)
        samples = []
        for fan_out in fan_outs:
            samples.append(self._layer(vertices, fan_out))
            vertices = samples[-1].vertices
        return tuple(reversed(samples))

    def subgraph(self, vertices: int) -> LayerSample:
        """The edges among ``vertices`` vertices that are drawn by degree; each in both directions.

        Returns
        -------
        LayerSample
            The sample, the same for all layers.
        """
        chance = self._degrees / self._ends[-1]
        chosen = self._random.choice(len(chance), vertices, replace=False, p=chance)
        degrees = self._degrees[chosen]
        within = self._random.poisson(degrees.sum() ** 2 / self._ends[-1] / 2)
        ends = self._random.choice(vertices, (within, 2), p=degrees / degrees.sum())
        ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
        source, destination = np.concatenate([ends, ends[:, ::-1]]).T
        return LayerSample(vertices=chosen, destinations=vertices, source=source,
                           destination=destination)

    def _layer(self, vertices: IntArray, fan_out: int) -> LayerSample:
        count = np.minimum(self._degrees[vertices], fan_out)
        row = np.repeat(np.arange(len(vertices)), count)
        stub = self._random.integers(self._ends[-1], size=len(row))
        neighbour = np.searchsorted(self._ends, stub, side="right")
        row, neighbour = np.unique(
            np.stack([row, neighbour])[:, neighbour != vertices[row]], axis=1)
        below, source = relabel_vertices(vertices, neighbour, len(self._degrees))
        return LayerSample(vertices=below, destinations=len(vertices), source=source,
                           destination=row)
