# SPDX-License-Identifier: BSD-2-Clause
"""Turns mini-batches into what devices train on."""

import numpy as np
import scipy.sparse

from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.sampling.minibatch import MiniBatch
from hypercast.host.graphs.sampling.prefetch import Sampler
from hypercast.reference.array_types import SparseArray
from hypercast.reference.labels import quantized_loss_weights
from hypercast.reference.network import LINEAR, Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import GraphRows, Mantissas, Sample
from hypercast.rtl.isa import Split

__all__ = ["SampleMaker"]


class SampleMaker:
    """Rounds the mini-batches of a graph.

    Vertices with a loss weight above zero are trained on; others are in no split. The loss of a
    batch is divided by the number of vertices to train on in the first batch; loss weights make up
    for that.

    Parameters
    ----------
    network : Network
        The network that is trained.
    recipe : Recipe
        How it is trained.
    graph : Graph
        Gives features, which are rounded once, and labels.
    sampler : Sampler
        Where the batches come from.
    """

    def __init__(self, network: Network, recipe: Recipe, graph: Graph, sampler: Sampler) -> None:
        self._network = network
        self._recipe = recipe
        self._features = Mantissas.of_features(graph.features, recipe.element_width)
        self._labels = graph.labels
        self._count = int(np.count_nonzero(sampler.batch(0, 0).loss_weights))
        _, self._unit = quantized_loss_weights(np.array([sampler.heaviest * self._count]))

    def __call__(self, batch: MiniBatch) -> Sample:
        """The ``Sample`` of a ``MiniBatch``; any thread may ask."""
        targets = batch.targets
        return Sample.of(
            self._network, self._recipe, self._matrices(batch),
            GraphRows(self._features, batch.inputs), self._labels[targets],
            np.where(batch.loss_weights > 0, Split.TRAIN, Split.NONE),
            batch.loss_weights * self._count, self._unit, number=batch.number)

    def _matrices(self, batch: MiniBatch) -> list[SparseArray]:
        """The batch's matrices, one for each layer that aggregates; the others sum nothing."""
        matrices, aggregated = [], iter(batch.matrices)
        rows = len(batch.inputs)
        for layer in self._network.layers:
            matrices.append(scipy.sparse.eye_array(rows, format="csr") if layer.order == LINEAR
                            else next(aggregated))
            rows = matrices[-1].shape[0]
        return matrices
