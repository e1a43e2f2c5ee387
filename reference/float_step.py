# SPDX-License-Identifier: BSD-2-Clause
"""A training step's tensors in float64, by the names that ``FixedGnn`` gives them."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse
import scipy.special

from hypercast.reference.array_types import (
    BoolArray,
    FloatArray,
    FloatMatrix,
    IntArray,
    SparseArray,
)
from hypercast.reference.dropout import Dropout
from hypercast.reference.fixed_layers import FixedLayers
from hypercast.reference.network import Network
from hypercast.reference.step_graph import step_graph
from hypercast.reference.tensor import EDGES, FEATURES, Kind, Tensor
from hypercast.rtl.isa import Split

__all__ = ["float_step"]


class _Edges(NamedTuple):
    """Stands for a ``Sample``: the whole graph in every layer."""

    edges: list[SparseArray]
    root_weight: int


class _FloatTensors:
    """Stands for ``FixedTensors``: values are kept unrounded, with exponent 0."""

    def __init__(self, values: dict[Tensor, FloatMatrix]) -> None:
        self.stored = values

    def base(self, *factors: Tensor) -> int:
        return 0

    def bias(self, name: Tensor, base: int) -> FloatArray:
        # The layers are told of a power of two in a base, which is 0 in all but a linear layer's.
        found: FloatArray = np.ldexp(self.stored[name], -base)
        return found

    def store(self, name: Tensor, sums: FloatArray, base: int,
              dropout: Dropout | None = None) -> None:
        self.stored[name] = sums * (dropout.scale if dropout else 1.0)


def float_step(network: Network, parameters: Mapping[Tensor, FloatArray], adjacency: SparseArray,
               features: FloatMatrix, labels: IntArray | BoolArray, splits: IntArray,
               step_key: int) -> dict[Tensor, FloatMatrix]:
    """Every tensor of the forward and backward pass of a training step.

    The step graph says which terms are summed. Nothing is rounded but by float64.

    Parameters
    ----------
    network : Network
        The network that is trained.
    parameters : dict
        Float64 values by name (W1, b1, ...).
    adjacency, features, labels, splits
        As of ``FixedGnn``.
    step_key : int
        The step's, for dropout.

    Returns
    -------
    dict
        Tensors by name; gradients are of the summed loss, not of its mean.
    """
    if scipy.sparse.issparse(features):
        features = scipy.sparse.csr_array(features)
    tensors: dict[Tensor, FloatMatrix] = {
        EDGES: scipy.sparse.csr_array(adjacency, dtype=np.float64), FEATURES: features,
        **parameters}
    file = _FloatTensors(tensors)
    layers: FixedLayers[np.float64] = FixedLayers(file)
    graph, last = step_graph(network), len(network.layers)
    layers.take(_Edges(edges=[tensors[EDGES]] * last, root_weight=1))
    layers.run(graph.forward, step_key)
    outputs = _loss_gradient(tensors[Tensor(Kind.LOGITS, last)], labels)
    tensors[Tensor(Kind.GRADIENT, last)] = outputs * (splits == Split.TRAIN)[:, None]
    layers.run(graph.backward)
    return tensors


def _loss_gradient(logits: FloatArray, labels: IntArray | BoolArray) -> FloatArray:
    """Gradient of the summed cross-entropy, of one class per vertex, or of several labels."""
    if labels.ndim == 2:
        probabilities: FloatArray = scipy.special.expit(logits)
        return probabilities - labels
    shares: FloatArray = scipy.special.softmax(logits, axis=1)
    one_hot: BoolArray = labels[:, None] == np.arange(logits.shape[1])
    return shares - one_hot
