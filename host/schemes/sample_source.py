# SPDX-License-Identifier: BSD-2-Clause
"""Samples of the vertices to train on, epoch by epoch."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from hypercast.errors import InputError
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.sampling.draws import EdgeDraw, NodeDraw, RandomWalkDraw
from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.graphs.sampling.prefetch import prefetch
from hypercast.host.graphs.sampling.saint import SaintSampler
from hypercast.host.graphs.sampling.samples import SampleMaker
from hypercast.host.graphs.sampling.vertex_cut import VertexCut
from hypercast.reference.array_types import IntArray, SparseArray
from hypercast.reference.network import LINEAR, Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.rtl.isa import Split

__all__ = ["SampleSource"]

#: Samples that are drawn to see how much memory samples take.
_TRIALS = 8


class SampleSource:
    """The ``Sample`` s of a training.

    Neighbours are drawn from the whole graph, subgraphs from the graph of the vertices to train on.
    A vertex cut is of the whole graph.

    Parameters
    ----------
    graph : Graph
        What is sampled.
    network : Network
        The network that is trained.
    recipe : Recipe
        How; its seed is the samples' seed, too.
    sampling : Sampling
        How samples are drawn; its ``sampler`` is given.
    progress : callable
        Called with a line of text before each slow part, and meanwhile.

    Attributes
    ----------
    first : Sample
        The first one.

    Raises
    ------
    InputError
        If samples reach less than half of the vertices to train on, or a part of a vertex cut none.
    """

    def __init__(self, graph: Graph, network: Network, recipe: Recipe, sampling: Sampling, *,
                 progress: Callable[[str], None] = lambda text: None) -> None:
        progress(f"normalising {graph.edges.nnz:,} edges")
        train = np.flatnonzero(graph.splits == Split.TRAIN)
        if recipe.normalise_features:
            graph = graph.with_normalised_features()
        layers = sum(layer.order != LINEAR for layer in network.layers)
        assert sampling.sampler
        self._sampler: NeighbourSampler | SaintSampler | VertexCut
        if sampling.sampler == "neighbours":
            assert sampling.fan_outs and sampling.batch  # as the sampler takes them
            fan_outs = [sampling.fan_outs[min(layer, len(sampling.fan_outs) - 1)]
                        for layer in range(layers)]
            self._sampler = NeighbourSampler(
                graph.normalise(recipe.normalisation, recipe.gin_epsilon), train, fan_outs,
                batch_size=min(sampling.batch, len(train)), seed=recipe.seed)
        elif sampling.sampler == "cut":
            assert sampling.parts
            self._sampler = VertexCut(graph, recipe.normalisation, recipe.gin_epsilon,
                                      parts=sampling.parts, layers=layers, seed=recipe.seed)
        else:
            assert sampling.coverage
            graph = graph.among(train)
            matrix = graph.normalise(recipe.normalisation, recipe.gin_epsilon)
            subgraphs = SaintSampler(
                matrix, _draw(matrix, sampling), layers=layers, coverage=sampling.coverage,
                seed=recipe.seed, progress=progress)
            _check_reached(subgraphs.visits, sampling.sampler)
            self._sampler = subgraphs
        self._make = SampleMaker(network, recipe, graph, self._sampler)
        self.first: Sample = self._make(self._sampler.batch(0, 0))

    def __len__(self) -> int:
        """Samples of an epoch."""
        return len(self._sampler)

    def _sample(self, epoch: int, number: int) -> Sample:
        if not epoch and not number:
            return self.first
        sample: Sample = self._make(self._sampler.batch(epoch, number))
        return sample

    def epoch(self, number: int, numbers: Sequence[int] | None = None) -> Iterator[Sample]:
        """The samples of an epoch (from 0) in order, or only those with certain numbers.

        Threads make the next ones.
        """
        samples: Iterator[Sample] = prefetch(
            partial(self._sample, number), range(len(self)) if numbers is None else numbers)
        return samples

    def capacity(self) -> Capacity:
        """``Capacity`` for all samples, by what the first ones take."""
        numbers = range(1, min(_TRIALS, len(self)))
        return Capacity.of([self.first, *self.epoch(0, numbers)])


def _check_reached(visits: IntArray, sampler: str) -> None:
    """Refuse samples that leave out most of the vertices to train on."""
    reached = np.count_nonzero(visits)
    if 2 * reached < len(visits):
        raise InputError(f"samples of {sampler} reach only {reached} of {len(visits)} vertices to "
                         f"train on; draw walks or neighbours instead if these have few edges "
                         f"among them, or else raise coverage")


def _draw(matrix: SparseArray, sampling: Sampling) -> RandomWalkDraw | NodeDraw | EdgeDraw:
    """The function that draws the vertices of a subgraph."""
    assert sampling.sampler and sampling.batch
    if sampling.sampler == "walks":
        assert sampling.walk
        return RandomWalkDraw(matrix, sampling.batch, sampling.walk)
    return (NodeDraw if sampling.sampler == "nodes" else EdgeDraw)(matrix, sampling.batch)
