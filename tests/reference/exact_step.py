# SPDX-License-Identifier: BSD-2-Clause
"""The definition of a training step, in fractions."""

from fractions import Fraction

import numpy as np
import scipy.sparse

from hypercast.reference.arithmetic import keep_mask, sigmoid_gradient, softmax_gradient
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR, ROOT_INITIAL
from hypercast.reference.tensor import Tensor
from hypercast.rtl.isa import Split


class ExactStep:
    """A step in exact fractions, straight from the documentation, given the exponents."""

    def __init__(self, gnn):
        self.width = gnn.recipe.element_width
        self.exponents = dict(gnn.exponents.items())
        self.tensors = {
            name: np.array(value.todense() if scipy.sparse.issparse(value) else value, object)
            for name, value in gnn.tensors.items()}
        self.network, self.splits, self.labels = gnn.network, gnn.sample.splits, gnn.sample.labels
        self.loss_weights = gnn.sample.loss_weights
        self.step_key = gnn.step_key
        self.gradients = {}
        #: Layers that read the outputs of each, and gradients that the later of them have added up.
        self.readers = {source: [
            number for number in range(1, len(self.network.layers) + 1)
            if any(weight.source == source and not weight.root
                   for weight in self.network.weights(number))]
            for source in range(len(self.network.layers))}
        self.parts = {}

    def exponent(self, name):
        return self.exponents[self.network.exponent_entry(Tensor.parse(name))]

    def value(self, name):
        return self.tensors[name] * Fraction(2) ** self.exponent(name)

    def store(self, name, values):
        top = 1 << self.width - 1
        scaled = np.asarray(values, object) * Fraction(2) ** -self.exponent(name)
        self.tensors[name] = np.array(
            [[max(-top, min(top - 1, round(x))) for x in row] for row in scaled], object)
        return self.value(name)

    def scaled(self, name, values, number):
        dropout = self.network.dropouts[number - 1]
        self.store(name, values * Fraction(2) ** dropout.exponent)
        if dropout.multiplier:
            self.store(name, self.value(name) * Fraction(dropout.multiplier, 65536))
        return self.value(name)

    def keep(self, number, shape):
        dropout = self.network.dropouts[number - 1]
        return keep_mask(dropout.key + self.step_key, dropout.threshold,
                         np.arange(shape[0])[:, None], np.arange(shape[1])[None, :])

    def sums(self, number, layer, fed):
        """A layer's sums, and the unit of their accumulators."""
        edges = self.value("A")
        first, *others = self.network.weights(number)
        inputs, weights = fed[first.source], self.value(first.name)
        if layer.order == AGGREGATE_FIRST:
            sums = self.scaled(f"M{number}", edges @ inputs, number) @ weights
            return sums, self.exponent(f"M{number}") + self.exponent(first.name)
        if layer.order == LINEAR:
            dropout = self.network.dropouts[number - 1].exponent
            sums = inputs @ weights + sum(
                fed[other.source] @ self.value(other.name) for other in others)
            source = f"H{first.source}" if first.source else "X"
            return sums * Fraction(2) ** dropout, (
                self.exponent(source) + self.exponent(first.name) + dropout)
        sums = edges @ self.scaled(f"T{number}", inputs @ weights, number)
        for root in others:
            sums = sums + self.scaled(
                f"S{number}", fed[root.source] @ self.value(root.name), number)
        return sums, self.exponent("A") + self.exponent(f"T{number}")

    def run(self):
        fed, masks = {0: self.value("X")}, {}
        fed[0] = fed[0] * self.keep(1, fed[0].shape)
        last = len(self.network.layers)
        for number, layer in enumerate(self.network.layers, 1):
            sums, exponent = self.sums(number, layer, fed)
            unit = Fraction(2) ** exponent
            bias = self.value(f"b{number}") / unit
            sums = sums + np.array([round(x) for x in bias], object) * unit
            if number == last:
                self.store(f"Z{number}", sums)
                break
            masks[number] = (sums > 0) & self.keep(self.readers[number][0], sums.shape)
            fed[number] = self.store(f"H{number}", sums * masks[number])
        logits = self.tensors[f"Z{last}"].astype(np.int64)
        loss = softmax_gradient if self.labels.ndim == 1 else sigmoid_gradient
        rows = loss(logits, self.labels, 10 - self.exponent(f"Z{last}"), self.loss_weights)
        train = (self.splits == Split.TRAIN)[:, None]
        self.store(f"dZ{last}", rows.gradient.astype(object) * train * Fraction(1, 2**33))
        for number in range(last, 0, -1):
            self.backward(number, fed)
            for source, gradient in self.input_gradients(number):
                self.scaled(f"dZ{source}", gradient * masks[source], number)

    def backward(self, number, fed):
        """Gradients of a layer's parameters."""
        outputs, order = self.value(f"dZ{number}"), self.network.layers[number - 1].order
        self.gradients[f"b{number}"] = outputs.sum(axis=0)
        if order == COMBINE_FIRST:
            self.store(f"dT{number}", self.value("A").T @ outputs)
        for weight in self.network.weights(number):
            left, right = fed[weight.source], outputs
            if order == AGGREGATE_FIRST:
                left = self.value(f"M{number}")
            elif order == COMBINE_FIRST and weight.name[0] == "W":
                right = self.value(f"dT{number}")
            self.gradients[weight.name] = left.T @ right

    def input_gradients(self, number):
        """Gradients of outputs of other layers that are whole now."""
        weights, outputs = self.network.weights(number), self.value(f"dZ{number}")
        if number == len(self.network.layers) and self.network.jumping:
            found = {weight.source: outputs @ self.value(weight.name).T for weight in weights}
        elif weights[0].source:
            found = {weights[0].source: self.input_gradient(number)}
        else:
            found = {}
        for source, gradient in found.items():
            if self.readers[source][0] == number:
                yield source, gradient
            elif self.network.jumping and number == len(self.network.layers):
                self.parts[source] = self.store(f"dC{source}", gradient)
            else:
                self.parts[source] = self.store(f"dU{number}", gradient)

    def input_gradient(self, number):
        layer, weights = self.network.layers[number - 1], self.network.weights(number)
        outputs, transposed = self.value(f"dZ{number}"), self.value(weights[-1].name).T
        later = self.parts.get(weights[0].source)
        roots = [layer.root for layer in self.network.layers]
        initial = [one for one in range(3, len(roots) + 1) if roots[one - 1] == ROOT_INITIAL]
        if number in initial:
            found = self.store(f"dS{number}", outputs @ transposed)
            if number < initial[-1]:
                found = self.store(f"dU{number}", found + self.carried)
            self.carried = found
            return self.value(f"dT{number}") @ self.value(weights[0].name).T
        last = number == 2 and bool(initial)
        if later is None and not last and not layer.root and layer.order != AGGREGATE_FIRST:
            return (outputs if layer.order == LINEAR else self.value(f"dT{number}")) @ transposed
        back = self.store(f"dM{number}", outputs @ self.value(weights[0].name).T)
        if layer.order != LINEAR:
            back = self.value("A").T @ back
        if layer.root:
            back = back + self.store(f"dS{number}", outputs @ transposed)
        if last:
            back = back + self.carried
        return back if later is None else back + later


def check_steps(gnn, steps=3):
    """Compare steps with the definition, in every tensor and every parameter's gradient."""
    for _ in range(steps):
        before = {name: gnn.tensors[name] for name in gnn.masters}
        exponents = {gnn.network.exponent_entry(name): gnn.exponents[name] for name in before}
        key = gnn.step_key
        gnn.train_step()
        exact = ExactStep(gnn)
        exact.tensors |= {name: value.astype(object) for name, value in before.items()}
        exact.exponents |= exponents
        exact.step_key = key
        exact.run()
        for name, value in gnn.tensors.items():
            if not name.endswith(".eval") and name not in before:
                value = value.todense() if scipy.sparse.issparse(value) else value
                assert value.tolist() == exact.tensors[name].tolist(), name
        assert gnn.gradients.keys() == exact.gradients.keys()
        for name, gradient in gnn.gradients.items():
            found = gradient.accumulators.astype(object) * Fraction(2) ** gradient.exponent
            assert found.tolist() == exact.gradients[name].tolist(), name
