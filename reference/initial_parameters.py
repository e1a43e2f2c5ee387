# SPDX-License-Identifier: BSD-2-Clause
"""Initial values of a network's parameters."""

import math

import numpy as np

from hypercast.reference.array_types import FloatArray
from hypercast.reference.network import Network
from hypercast.reference.tensor import Kind, Tensor

__all__ = ["initial_parameters"]


def initial_parameters(network: Network, seed: int) -> dict[Tensor, FloatArray]:
    """Glorot-uniform weights and zero biases, as a dictionary of float64 arrays W1, b1, W2, ...

    Where a layer has shares of them, of the identity, or of the first layer's outputs, parameters
    are the matrices that multiply (``Layer``).

    (Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks,
    2010.)
    """
    generator = np.random.default_rng(seed)
    parameters: dict[Tensor, FloatArray] = {}
    for number, layer in enumerate(network.layers, 1):
        limit = math.sqrt(6 / (layer.features_in + layer.features_out))
        for weight in network.weights(number):
            if weight.name.kind == Kind.IDENTITY:
                parameters[weight.name] = np.eye(*weight.shape)
                continue
            values = generator.uniform(-limit, limit, weight.shape)
            if layer.beta < 1:
                values += (1 / layer.beta - 1) * np.eye(*weight.shape)
            parameters[weight.name] = network.weight_factor(weight.name) * values
        parameters[Tensor(Kind.BIAS, number)] = np.zeros(layer.features_out)
    return parameters
