"""Turns mini-batches into what devices train on."""

import numpy as np
import scipy.sparse

from hypercast.reference.network import LINEAR
from hypercast.reference.sample import Mantissas, Sample
from hypercast.rtl.isa import Split

__all__ = ["SampleMaker"]


class SampleMaker:
    """Rounds the mini-batches of a graph.

    Parameters
    ----------
    network : Network
        What is trained.
    element_width : int
        Bits of a mantissa.
    features : (V, F) array or scipy.sparse array
        Those of the graph, which are rounded once.
    labels : (V,) array of int
        Those of the graph.
    """

    def __init__(self, network, element_width, features, labels):
        self._network = network
        self._width = element_width
        self._features = Mantissas.of_features(features, element_width)
        self._labels = np.asarray(labels)

    def __call__(self, batch):
        """The ``Sample`` of a ``MiniBatch``; any thread may ask."""
        values, exponent = self._features
        targets = batch.targets
        return Sample.of(
            self._network, self._width, self._matrices(batch),
            Mantissas(values[batch.inputs], exponent), self._labels[targets],
            np.full(len(targets), Split.TRAIN))

    def _matrices(self, batch):
        """Those of the batch, one for each layer that aggregates; the others sum nothing."""
        matrices, aggregated = [], iter(batch.matrices)
        rows = len(batch.inputs)
        for layer in self._network.layers:
            matrices.append(scipy.sparse.eye_array(rows, format="csr") if layer.order == LINEAR
                            else next(aggregated))
            rows = matrices[-1].shape[0]
        return matrices
