"""The same training in float64: what the integers are compared with."""

import math

import numpy as np
import scipy.sparse

from hypercast.reference.dropout import Dropout
from hypercast.reference.metrics import Metrics
from hypercast.reference.network import LINEAR, initial_parameters
from hypercast.rtl.isa import STEP_KEY_INCREMENT, Split

__all__ = ["FloatGcn"]


class FloatGcn:
    """A network in training, in real numbers.

    Structure, initial values, dropout's choices and the optimiser are ``FixedGcn``'s; a layer's
    order makes no difference here. Parameters are those of ``FixedGcn``.

    Attributes
    ----------
    parameters, momenta : dict
        Float64 arrays by name (W1, b1, W2, ...).
    epoch : int
        Training steps done.
    step_key : int
        32 bits, added to dropout's keys in the next step.
    """

    def __init__(self, network, recipe, adjacency, features, labels, splits):
        self.network = network
        self.recipe = recipe
        self.adjacency = scipy.sparse.csr_array(adjacency, dtype=np.float64)
        if scipy.sparse.issparse(features):
            features = scipy.sparse.csr_array(features)
        self.features = features
        self.labels = np.asarray(labels, dtype=np.int64)
        self.splits = np.asarray(splits, dtype=np.int64)
        self.parameters = initial_parameters(network, recipe.seed)
        self.momenta = {name: np.zeros_like(value) for name, value in self.parameters.items()}
        self.epoch = 0
        self.step_key = recipe.seed & 0xFFFFFFFF

    def forward(self, training):
        """All layers.

        Parameters
        ----------
        training : bool
            Whether inputs are dropped.

        Returns
        -------
        list of tuple
            Of each layer the input as fed (dropped, and scaled) and the sums before ReLU; the
            last sums are the logits.
        """
        layers = []
        inputs = self.features
        for number, layer in enumerate(self.network.layers, 1):
            dropout = self.network.dropouts[number - 1] if training else Dropout()
            inputs = dropout.apply(inputs, self.step_key) * dropout.scale
            sums = self.parameters[f"b{number}"]
            for weight in self.network.weights(number):
                # Of all layers' outputs, and of the features, what is fed to the next layer.
                source = inputs if weight.source == number - 1 else layers[weight.source][0]
                product = np.asarray(source @ self.parameters[weight.name])
                linear = weight.root or layer.order == LINEAR
                sums = sums + (product if linear else self.adjacency @ product)
            layers.append((inputs, sums))
            inputs = np.maximum(sums, 0)
        return layers

    def losses(self, logits):
        """(V,) cross-entropies in nats, and (V, C) probabilities; label -1 counts as class 0."""
        shifted = logits - logits.max(axis=1, keepdims=True)
        log_sums = np.log(np.exp(shifted).sum(axis=1))
        own = np.take_along_axis(shifted, np.maximum(self.labels, 0)[:, None], axis=1)[:, 0]
        return log_sums - own, np.exp(shifted - log_sums[:, None])

    def loss(self, training):
        """Mean cross-entropy of the training vertices in nats."""
        losses, _ = self.losses(self.forward(training)[-1][1])
        return float(losses[self.splits == Split.TRAIN].mean())

    def gradients(self, layers):
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
        outputs[np.arange(len(train)), self.labels] -= 1
        outputs *= train[:, None] / np.count_nonzero(train)
        gradients: dict[str, np.ndarray] = {}
        fed = dict.fromkeys(range(len(layers)), 0.0)  # gradient of what each layer is fed
        for number in range(len(layers), 0, -1):
            for weight in self.network.weights(number):
                linear = weight.root or self.network.layers[number - 1].order == LINEAR
                right = outputs if linear else self.adjacency.T @ outputs
                gradients[weight.name] = np.asarray(layers[weight.source][0].T @ right)
                if weight.source:
                    fed[weight.source] += right @ self.parameters[weight.name].T
            gradients[f"b{number}"] = outputs.sum(axis=0)
            if number > 1:
                dropout = self.network.dropouts[number - 1]
                kept = dropout.apply(layers[number - 2][1] > 0, self.step_key)
                outputs = kept * dropout.scale * fed[number - 1]
        return gradients

    def train_step(self):
        """Forward, backward, update; returns the forward pass's ``Metrics``."""
        layers = self.forward(training=True)
        for name, gradient in self.gradients(layers).items():
            self.momenta[name] = (self.recipe.momentum * self.momenta[name] + gradient
                                  + self.recipe.weight_decay(name) * self.parameters[name])
            self.parameters[name] = self.parameters[name] - (
                self.recipe.learning_rate(name, self.epoch) * self.momenta[name])
        self.epoch += 1
        self.step_key = (self.step_key + STEP_KEY_INCREMENT) & 0xFFFFFFFF
        return self._metrics(layers)

    def evaluate(self):
        """``Metrics`` of the present parameters, without dropout."""
        return self._metrics(self.forward(training=False))

    def _metrics(self, layers):
        logits = layers[-1][1]
        losses, _ = self.losses(logits)
        return Metrics.of_vertices(self.splits, losses * (4096 / math.log(2)),
                             logits.argmax(axis=1) == self.labels)
