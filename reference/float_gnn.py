# SPDX-License-Identifier: BSD-2-Clause
"""The same training in float64, with which the training in integers is compared."""

import numpy as np
import numpy.typing as npt
import scipy.sparse
import scipy.special

from hypercast.reference.array_types import BoolArray, FloatArray, FloatMatrix, SparseArray
from hypercast.reference.dropout import Dropout
from hypercast.reference.initial_parameters import initial_parameters
from hypercast.reference.labels import checked_labels, checked_loss_weights
from hypercast.reference.metrics import LOSS_UNIT, Metrics
from hypercast.reference.network import LINEAR, Network
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, Recipe
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.isa import STEP_KEY_INCREMENT, Split

__all__ = ["FloatGnn"]


class FloatGnn:
    """A network in training, in real numbers.

    Structure, initial values, dropout's choices and the optimiser are ``FixedGnn``'s; a layer's
    order makes no difference here. Parameters are as of ``FixedGnn``.

    Attributes
    ----------
    parameters, momenta, second_moments : dict
        Float64 arrays by name (W1, b1, W2, ...); second moments are Adam's.
    step : int
        Training steps done.
    step_key : int
        32 bits, added to dropout's keys in the next step.
    """

    def __init__(self, network: Network, recipe: Recipe, adjacency: SparseArray,
                 features: FloatMatrix, labels: npt.ArrayLike, splits: npt.ArrayLike,
                 loss_weights: npt.ArrayLike | None = None) -> None:
        self.network = network
        self.recipe = recipe
        self.adjacency = scipy.sparse.csr_array(adjacency, dtype=np.float64)
        if scipy.sparse.issparse(features):
            features = scipy.sparse.csr_array(features)
        self.features = features
        self.labels = checked_labels(labels, recipe.loss, network.classes)
        self.loss_weights = checked_loss_weights(loss_weights, len(self.labels))
        self.splits = np.asarray(splits, dtype=np.int64)
        self.parameters = initial_parameters(network, recipe.seed)
        self.momenta = {name: np.zeros_like(value) for name, value in self.parameters.items()}
        self.second_moments = {
            name: np.zeros_like(value) for name, value in self.parameters.items()}
        self.step = 0
        self.step_key = recipe.seed & 0xFFFFFFFF

    def forward(self, training: bool) -> list[tuple[FloatMatrix, FloatArray]]:
        """All layers.

        Parameters
        ----------
        training : bool
            Whether inputs are dropped.

        Returns
        -------
        list of tuple
            For each layer, the outputs of the one before as others read them (dropped, and
            scaled), and the sums before ReLU; the last sums are the logits.
        """
        layers: list[tuple[FloatMatrix, FloatArray]] = []
        inputs = self.features
        for number, layer in enumerate(self.network.layers, 1):
            dropout = self.network.output_dropout(number - 1) if training else Dropout()
            inputs = dropout.apply(inputs, self.step_key) * dropout.scale
            sums = self.parameters[Tensor(Kind.BIAS, number)]
            for weight in self.network.weights(number):
                source = inputs if weight.source == number - 1 else layers[weight.source][0]
                product = np.asarray(source @ self.parameters[weight.name])
                linear = weight.root or layer.order == LINEAR
                sums = sums + (product if linear else self.adjacency @ product)
            layers.append((inputs, sums))
            inputs = np.maximum(sums, 0)
        return layers

    def losses(self, logits: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(V,) cross-entropies in nats, and (V, C) probabilities.

        With several labels, it is the mean of their binary cross-entropies. Label -1 counts as
        class 0. Weights are left out.
        """
        if self.recipe.loss == BINARY_CROSS_ENTROPY:
            losses = np.logaddexp(0, logits) - self.labels * logits
            return losses.mean(axis=1), scipy.special.expit(logits)
        shifted = logits - logits.max(axis=1, keepdims=True)
        log_sums = np.log(np.exp(shifted).sum(axis=1))
        own = np.take_along_axis(shifted, np.maximum(self.labels, 0)[:, None], axis=1)[:, 0]
        return log_sums - own, np.exp(shifted - log_sums[:, None])

    def loss(self, training: bool) -> float:
        """Mean of the training vertices' weighted cross-entropies in nats."""
        losses, _ = self.losses(self.forward(training)[-1][1])
        return float((losses * self.loss_weights)[self.splits == Split.TRAIN].mean())

    def gradients(self, layers: list[tuple[FloatMatrix, FloatArray]]) -> dict[Tensor, FloatArray]:
        """Gradients of the mean training loss.

        Parameters
        ----------
        layers : list
            What ``forward(training=True)`` returned.

        Returns
        -------
        dict
            By parameter name.
        """
        train = self.splits == Split.TRAIN
        _, outputs = self.losses(layers[-1][1])
        if self.recipe.loss == BINARY_CROSS_ENTROPY:
            outputs = (outputs - self.labels) / self.network.classes
        else:
            outputs[np.arange(len(train)), self.labels] -= 1
        outputs *= (train * self.loss_weights / np.count_nonzero(train))[:, None]
        gradients: dict[Tensor, FloatArray] = {}
        # Gradients of layers' outputs as others read them.
        fed: dict[int, FloatArray | float] = dict.fromkeys(range(len(layers)), 0.0)
        for number in range(len(layers), 0, -1):
            for weight in self.network.weights(number):
                linear = weight.root or self.network.layers[number - 1].order == LINEAR
                right = outputs if linear else self.adjacency.T @ outputs
                gradients[weight.name] = np.asarray(layers[weight.source][0].T @ right)
                if weight.source:
                    fed[weight.source] += right @ self.parameters[weight.name].T
            gradients[Tensor(Kind.BIAS, number)] = outputs.sum(axis=0)
            if number > 1:
                dropout = self.network.output_dropout(number - 1)
                kept: BoolArray = dropout.apply(layers[number - 2][1] > 0, self.step_key)
                outputs = kept * np.float64(dropout.scale) * fed[number - 1]
        return gradients

    def train_step(self) -> Metrics:
        """Forward, backward, update; returns the forward pass's ``Metrics``."""
        layers = self.forward(training=True)
        for name, gradient in self.gradients(layers).items():
            gradient = gradient + self.recipe.weight_decay(name) * self.parameters[name]
            rule = self._adam if self.recipe.optimiser == "adam" else self._momentum
            rate = self.recipe.learning_rate(name, self.step) * self.recipe.rate_of_factor(
                self.network.weight_factor(name))
            self.parameters[name] = self.parameters[name] - rate * rule(name, gradient)
        self.step += 1
        self.step_key = (self.step_key + STEP_KEY_INCREMENT) & 0xFFFFFFFF
        return self._metrics(layers)

    def _momentum(self, name: Tensor, gradient: FloatArray) -> FloatArray:
        """The step that SGD subtracts from a parameter, for a learning rate of one."""
        self.momenta[name] = self.recipe.momentum * self.momenta[name] + gradient
        return self.momenta[name]

    def _adam(self, name: Tensor, gradient: FloatArray) -> FloatArray:
        """The step that Adam subtracts from a parameter, for a learning rate of one."""
        beta1, beta2 = self.recipe.betas
        self.momenta[name] = beta1 * self.momenta[name] + (1 - beta1) * gradient
        self.second_moments[name] = beta2 * self.second_moments[name] + (1 - beta2) * gradient**2
        number = self.step + 1
        return self.momenta[name] / (1 - beta1**number) / (
            np.sqrt(self.second_moments[name] / (1 - beta2**number)) + self.recipe.epsilon)

    def evaluate(self) -> Metrics:
        """``Metrics`` of the present parameters, without dropout."""
        return self._metrics(self.forward(training=False))

    def _metrics(self, layers: list[tuple[FloatMatrix, FloatArray]]) -> Metrics:
        logits = layers[-1][1]
        losses, _ = self.losses(logits)
        predicted = logits > 0 if self.labels.ndim == 2 else logits.argmax(axis=1)
        return Metrics.of_vertices(
            self.splits, losses * self.loss_weights / LOSS_UNIT, predicted, self.labels)
