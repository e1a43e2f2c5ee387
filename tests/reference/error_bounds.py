# SPDX-License-Identifier: BSD-2-Clause
"""Bounds of the errors that the roundings of a training step may cause."""

from collections import defaultdict

import numpy as np

from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR
from hypercast.reference.tensor import Tensor
from hypercast.rtl.isa import LOSS_WEIGHT_ONE, Split


class Approximate:
    """Real matrix, and a bound of the error with which the chip knows each element."""

    def __init__(self, value, error=0.0):
        self.value = np.asarray(value, np.float64)
        self.error = np.broadcast_to(error, self.value.shape)

    def __matmul__(self, other):
        return Approximate(self.value @ other.value,
                           abs(self.value) @ other.error + self.error @ abs(other.value)
                           + self.error @ other.error)

    def __add__(self, other):
        return Approximate(self.value + other.value, self.error + other.error)

    def __mul__(self, factor):
        return Approximate(self.value * factor, self.error * factor)

    @property
    def T(self):  # noqa: N802 (as NumPy calls it)
        return Approximate(self.value.T, self.error.T)

    def rounded(self, exponent, times=1):
        """Rounded to multiples of 2**exponent: off by half of that."""
        return Approximate(self.value, self.error + times * 2.0 ** (exponent - 1))

    def relu(self):
        return Approximate(np.maximum(self.value, 0), self.error)

    def where_positive(self, sums):
        """Zero where ``sums`` are not positive; where their sign is not certain, it may differ."""
        certain = abs(sums.value) > sums.error
        return Approximate(self.value * (sums.value > 0), np.where(
            certain, self.error * (sums.value > 0), abs(self.value) + self.error))


class ErrorBounds:
    """Gradients of the summed loss by name, with the error that each rounding may cause.

    Of several labels, losses are summed up, too; ``LOSS_WEIGHT_ONE`` is a weight of one. A
    sigmoid's slope is at most a quarter, and ``sigmoid_gradient`` itself adds less than 2**-13.5,
    and 2**-17 if weighted (by at least half). The softmax of logits that are off by at most e is
    off by at most a factor exp(2 e). ``softmax_gradient`` itself adds less than 2**-10: each
    exponential has a relative error below 2.7e-4 (u is floored to 12 fraction bits: 2**-12 ln 2;
    log2 e is rounded: 17 * 4.9e-6 ln 2; interpolation: (ln 2 / 64)**2 / 8, its roundings 2**-16 and
    2**-17) and an absolute one of 2**-16, and enters twice, in numerator and sum.
    """

    def __init__(self, gnn, real):
        self._exponents, self.network = gnn.exponents, gnn.network
        # Of the outputs of each layer: the first one that reads them gives them dropout.
        self.readers = {source: [
            number for number in range(1, len(self.network.layers) + 1)
            if any(weight.source == source and not weight.root
                   for weight in self.network.weights(number))]
            for source in range(len(self.network.layers))}
        dropouts = [self.network.dropouts[numbers[0] - 1] for numbers in self.readers.values()]
        widths = [self.network.features, *(layer.features_out for layer in self.network.layers)]
        rows = np.arange(len(gnn.sample.labels))[:, None]
        self.scales = [dropout.keep(gnn.step_key, rows, np.arange(width)[None, :]) * dropout.scale
                       for dropout, width in zip(dropouts, widths[:-1], strict=True)]
        self.times = [2 if dropout.multiplier else 1 for dropout in dropouts]
        self.edges = Approximate(real.adjacency.todense())
        self.parameters = {name: Approximate(value) for name, value in real.parameters.items()}
        self.fed = {0: Approximate(real.features) * self.scales[0]}
        self.sums, self.aggregated, self.gradients = {}, {}, {}

    def exponent(self, name):
        return self._exponents[Tensor.parse(name)]

    def run(self, gnn):
        last = len(self.network.layers)
        for number, layer in enumerate(self.network.layers, 1):
            product, base = self.forward(number, layer)
            # The bias is rounded to the accumulators' unit.
            self.sums[number] = (product + self.parameters[f"b{number}"]).rounded(base)
            if number < last:
                self.fed[number] = self.sums[number].relu().rounded(
                    self.exponent(f"H{number}")) * self.scales[number]
        logits = self.sums[last].rounded(self.exponent(f"Z{last}"))
        outputs = (self.loss_gradient(gnn.sample.labels, logits)
                   * (gnn.sample.loss_weights[:, None] / LOSS_WEIGHT_ONE)).rounded(
            self.exponent(f"dZ{last}")) * (gnn.sample.splits == Split.TRAIN)[:, None]
        back = defaultdict(list)  # parts of the gradient of what each layer is fed
        for number in range(last, 0, -1):
            self.backward(number, outputs, back)
            if number > 1:
                first, *others = back.pop(number - 1)
                outputs = (sum(others, first) * self.scales[number - 1]).where_positive(
                    self.sums[number - 1]).rounded(
                        self.exponent(f"dZ{number - 1}"), self.times[number - 1])
        return self.gradients

    def loss_gradient(self, labels, logits):
        if labels.ndim == 2:
            return Approximate(1 / (1 + np.exp(-logits.value)) - labels,
                               logits.error / 4 + 2.0**-13.5 + 2 * 2.0**-17)
        probability = np.exp(logits.value) / np.exp(logits.value).sum(axis=1, keepdims=True)
        error = probability * np.expm1(2 * logits.error.max(axis=1, keepdims=True)) + 2.0**-10
        return Approximate(probability - (labels[:, None] == np.arange(self.network.classes)),
                           error)

    def forward(self, number, layer):
        first, *others = self.network.weights(number)
        inputs, weights = self.fed[first.source], self.parameters[first.name]
        if layer.order == AGGREGATE_FIRST:
            self.aggregated[number] = (self.edges @ inputs).rounded(
                self.exponent(f"M{number}"), self.times[first.source])
            return (self.aggregated[number] @ weights,
                    self.exponent(f"M{number}") + self.exponent(first.name))
        product = inputs @ weights
        if layer.order == LINEAR:
            for other in others:
                product = product + self.fed[other.source] @ self.parameters[other.name]
            source = f"H{first.source}" if first.source else "X"
            return product, (self.exponent(source) + self.exponent(first.name)
                             + self.network.dropouts[number - 1].exponent)
        exponent = self.exponent(f"T{number}")
        product = self.edges @ product.rounded(exponent, self.times[first.source])
        for root in others:
            product = product + (self.fed[root.source] @ self.parameters[root.name]).rounded(
                exponent, self.times[first.source])
        return product, self.exponent("A") + exponent

    def backward(self, number, outputs, back):
        layer = self.network.layers[number - 1]
        self.gradients[f"b{number}"] = Approximate(outputs.value.sum(axis=0),
                                                   outputs.error.sum(axis=0))
        combined = (self.edges.T @ outputs).rounded(self.exponent(f"dT{number}")) \
            if layer.order == COMBINE_FIRST else outputs
        joins = bool(self.network.jumping) and number == len(self.network.layers)
        later = {source for source, parts in back.items() if parts}
        for weight in self.network.weights(number):
            right = outputs if weight.root else combined
            self.gradients[weight.name] = self.aggregated.get(
                number, self.fed[weight.source]).T @ right
            if not weight.source:
                continue
            transposed = self.parameters[weight.name].T
            initial = number in self.network.initial
            first = self.readers[weight.source][0] == number
            alone = layer.order != AGGREGATE_FIRST and (not layer.root or initial) and (
                first if joins else weight.source not in later) and not (
                    weight.source == 1 and self.network.initial)
            if alone:
                back[weight.source].append(combined @ transposed)
                continue
            name = f"dC{weight.source}" if joins else \
                f"dS{number}" if initial else f"dM{number}"
            product = (outputs @ transposed).rounded(self.exponent(name))
            if initial and number < self.network.initial[-1]:  # it is added to that of later layers
                before = back[weight.source].pop()
                product = (product + before).rounded(self.exponent(name))
            spread = layer.order != LINEAR and not weight.root
            back[weight.source].append(self.edges.T @ product if spread else product)
        source = self.network.weights(number)[0].source
        if source and not joins and self.readers[source][0] < number:
            first, *others = back.pop(source)
            back[source] = [sum(others, first).rounded(self.exponent(f"dU{number}"))]
