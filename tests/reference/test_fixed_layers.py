"""Every kind of layer, against the definition in fractions and against real numbers."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from hypercast.reference.arithmetic import keep_mask, softmax_gradient
from hypercast.reference.fixed_gcn import FixedGcn
from hypercast.reference.float_gcn import FloatGcn
from hypercast.reference.models import model_network
from hypercast.reference.network import (
    AGGREGATE_FIRST,
    COMBINE_FIRST,
    LINEAR,
    ROOT_IDENTITY,
    ROOT_WEIGHTS,
    Layer,
    Network,
    Recipe,
)
from hypercast.rtl.isa import Split
from tests.reference.random_data import ORDERS, data, network


def everything(dropout):
    """All kinds of layers; the last one also takes what each kind of others has as its input."""
    kinds = [(12, 7, COMBINE_FIRST, ROOT_WEIGHTS), (7, 7, COMBINE_FIRST, ROOT_IDENTITY),
             (7, 5, AGGREGATE_FIRST, None), (5, 4, LINEAR, None), (4, 6, COMBINE_FIRST, None),
             (6, 5, LINEAR, None), (5 + 4 + 6 + 5 + 7 + 7, 3, LINEAR, None)]
    return Network(jumping=(1, 2, 3, 4, 5, 6), layers=tuple(
        Layer(features_in=features_in, features_out=features_out, order=order, root=root,
              dropout=dropout) for features_in, features_out, order, root in kinds))


OTHERS = {
    "sage": model_network("sage", 12, (8,), 3, dropout=0.4),
    "gin": model_network("gin", 12, (8,), 3, dropout=0.4),
    "linear layers with dropout": Network(layers=(
        Layer(features_in=12, features_out=8, order=LINEAR, dropout=0.5),
        Layer(features_in=8, features_out=6, order=AGGREGATE_FIRST, dropout=0.3),
        Layer(features_in=6, features_out=3, order=LINEAR, dropout=0.75))),
    "residual": model_network("gcn", 12, (8, 8), 3, dropout=0.4, residual=True),
    "jumping": model_network("gcn", 12, (8, 5), 3, dropout=0.5, jumping=True),
    "everything": everything(0.5),
    "everything, no dropout": everything(0.0),
}


# --- The definition, in fractions ---------------------------------------------------------------


class Slow:
    """A step in exact fractions, straight from the documentation, given the exponents."""

    def __init__(self, gcn):
        self.width = gcn.recipe.element_width
        self.exponents = dict(gcn.exponents.items())
        self.tensors = {
            name: np.array(value.todense() if scipy.sparse.issparse(value) else value, object)
            for name, value in gcn.tensors.items()}
        self.network, self.splits, self.labels = gcn.network, gcn.splits, gcn.labels
        self.step_key = gcn.step_key
        self.gradients = {}

    def exponent(self, name):
        return self.exponents[self.network.slot(name)]

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
            sums = sums + self.scaled(f"S{number}", inputs @ self.value(root.name), number)
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
            masks[number] = (sums > 0) & self.keep(number + 1, sums.shape)
            fed[number] = self.store(f"H{number}", sums * masks[number])
        logits = self.tensors[f"Z{last}"].astype(np.int64)
        rows = softmax_gradient(logits, self.labels, 10 - self.exponent(f"Z{last}"))
        train = (self.splits == Split.TRAIN)[:, None]
        self.store(f"dZ{last}", rows.gradient.astype(object) * train * Fraction(1, 2**33))
        for number in range(last, 0, -1):
            self.backward(number, fed)
            if number > 1:
                self.scaled(f"dZ{number - 1}",
                            self.input_gradient(number) * masks[number - 1], number)

    def backward(self, number, fed):
        """Gradients of a layer's parameters, and of hidden features that jump to it."""
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
            if number == len(self.network.layers) and weight.source in self.network.jumping[:-1]:
                self.store(f"dC{weight.source}", outputs @ self.value(weight.name).T)

    def input_gradient(self, number):
        layer, weights = self.network.layers[number - 1], self.network.weights(number)
        outputs, transposed = self.value(f"dZ{number}"), self.value(weights[-1].name).T
        jumps = number - 1 in self.network.jumping[:-1]
        if not jumps and not layer.root and layer.order != AGGREGATE_FIRST:
            return (outputs if layer.order == LINEAR else self.value(f"dT{number}")) @ transposed
        back = self.store(f"dM{number}", outputs @ self.value(weights[0].name).T)
        if layer.order != LINEAR:
            back = self.value("A").T @ back
        if layer.root:
            back = back + self.store(f"dS{number}", outputs @ transposed)
        return back + self.value(f"dC{number - 1}") if jumps else back


CONVOLUTIONS = [
    *[((12, 8, 3), orders, width, dropout) for orders in ORDERS
      for width, dropout in ((16, 0.4), (8, 0.4), (16, 0.5), (8, 0.0))],
    ((12, 3), (COMBINE_FIRST,), 16, 0.4),
    ((12, 3), (AGGREGATE_FIRST,), 8, 0.0),
    ((12, 7, 3), (AGGREGATE_FIRST, AGGREGATE_FIRST), 16, 0.0),
    ((12, 6, 5, 3), (COMBINE_FIRST, AGGREGATE_FIRST, COMBINE_FIRST), 16, 0.3),
]


@pytest.mark.parametrize(("net", "width", "vertices"), [
    *[(network(widths, dropout=dropout, orders=orders), width, 16)
      for widths, orders, width, dropout in CONVOLUTIONS],
    *[(net, width, 6) for net in OTHERS.values() for width in (16, 8)],
])
def test_step_is_what_the_documentation_says(net, width, vertices):
    gcn = FixedGcn(net, Recipe(element_width=width, learning_rates=(0.2,)),
                   *data(vertices=vertices))
    for _ in range(3):
        before = {name: gcn.tensors[name] for name in gcn.masters}
        exponents = {net.slot(name): gcn.exponents[name] for name in before}
        key = gcn.step_key
        gcn.train_step()
        slow = Slow(gcn)
        slow.tensors |= {name: value.astype(object) for name, value in before.items()}
        slow.exponents |= exponents
        slow.step_key = key
        slow.run()
        for name, value in gcn.tensors.items():
            if not name.endswith(".eval") and name not in before:
                value = value.todense() if scipy.sparse.issparse(value) else value
                assert value.tolist() == slow.tensors[name].tolist(), name
        for name, gradient in gcn.gradients.items():
            found = gradient.accumulators.astype(object) * Fraction(2) ** gradient.exponent
            assert found.tolist() == slow.gradients[name].tolist(), name


# --- Against real numbers -----------------------------------------------------------------------


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


class Bounds:
    """Gradients of the summed loss by name, with the error that each rounding may cause.

    The softmax of logits that are off by at most e is off by at most a factor exp(2 e).
    ``softmax_gradient`` itself adds less than 2**-10: each exponential has a relative error below
    2.7e-4 (u is floored to 12 fraction bits: 2**-12 ln 2; log2 e is rounded: 17 * 4.9e-6 ln 2;
    interpolation: (ln 2 / 64)**2 / 8, its roundings 2**-16 and 2**-17) and an absolute one of
    2**-16, and enters twice, in numerator and sum.
    """

    def __init__(self, gcn, real):
        self.exponents, self.network = gcn.exponents, gcn.network
        dropouts = self.network.dropouts
        widths = [self.network.features, *(layer.features_out for layer in self.network.layers)]
        rows = np.arange(len(gcn.labels))[:, None]
        self.scales = [dropout.keep(gcn.step_key, rows, np.arange(width)[None, :]) * dropout.scale
                       for dropout, width in zip(dropouts, widths[:-1], strict=True)]
        self.times = [2 if dropout.multiplier else 1 for dropout in dropouts]
        self.edges = Approximate(real.adjacency.todense())
        self.parameters = {name: Approximate(value) for name, value in real.parameters.items()}
        self.fed = {0: Approximate(real.features) * self.scales[0]}
        self.sums, self.aggregated, self.gradients = {}, {}, {}

    def run(self, gcn):
        last = len(self.network.layers)
        for number, layer in enumerate(self.network.layers, 1):
            product, base = self.forward(number, layer)
            # The bias is rounded to the accumulators' unit.
            self.sums[number] = (product + self.parameters[f"b{number}"]).rounded(base)
            if number < last:
                self.fed[number] = self.sums[number].relu().rounded(
                    self.exponents[f"H{number}"]) * self.scales[number]
        logits = self.sums[last].rounded(self.exponents[f"Z{last}"])
        probability = np.exp(logits.value) / np.exp(logits.value).sum(axis=1, keepdims=True)
        error = probability * np.expm1(2 * logits.error.max(axis=1, keepdims=True)) + 2.0**-10
        onehot = gcn.labels[:, None] == np.arange(self.network.classes)
        outputs = Approximate(probability - onehot, error).rounded(
            self.exponents[f"dZ{last}"]) * (gcn.splits == Split.TRAIN)[:, None]
        back = defaultdict(list)  # parts of the gradient of what each layer is fed
        for number in range(last, 0, -1):
            self.backward(number, outputs, back)
            if number > 1:
                first, *others = back[number - 1]
                outputs = (sum(others, first) * self.scales[number - 1]).where_positive(
                    self.sums[number - 1]).rounded(
                        self.exponents[f"dZ{number - 1}"], self.times[number - 1])
        return self.gradients

    def forward(self, number, layer):
        first, *others = self.network.weights(number)
        inputs, weights = self.fed[first.source], self.parameters[first.name]
        if layer.order == AGGREGATE_FIRST:
            self.aggregated[number] = (self.edges @ inputs).rounded(
                self.exponents[f"M{number}"], self.times[number - 1])
            return (self.aggregated[number] @ weights,
                    self.exponents[f"M{number}"] + self.exponents[first.name])
        product = inputs @ weights
        if layer.order == LINEAR:
            for other in others:
                product = product + self.fed[other.source] @ self.parameters[other.name]
            source = f"H{first.source}" if first.source else "X"
            return product, (self.exponents[source] + self.exponents[first.name]
                             + self.network.dropouts[number - 1].exponent)
        exponent = self.exponents[f"T{number}"]
        product = self.edges @ product.rounded(exponent, self.times[number - 1])
        for root in others:
            product = product + (inputs @ self.parameters[root.name]).rounded(
                exponent, self.times[number - 1])
        return product, self.exponents["A"] + exponent

    def backward(self, number, outputs, back):
        layer = self.network.layers[number - 1]
        self.gradients[f"b{number}"] = Approximate(outputs.value.sum(axis=0),
                                                   outputs.error.sum(axis=0))
        combined = (self.edges.T @ outputs).rounded(self.exponents[f"dT{number}"]) \
            if layer.order == COMBINE_FIRST else outputs
        for weight in self.network.weights(number):
            right = outputs if weight.root else combined
            self.gradients[weight.name] = self.aggregated.get(
                number, self.fed[weight.source]).T @ right
            if not weight.source:
                continue
            transposed = self.parameters[weight.name].T
            alone = layer.order != AGGREGATE_FIRST and not layer.root and (
                weight.source not in self.network.jumping[:-1])
            if alone:
                back[weight.source].append(combined @ transposed)
                continue
            product = (outputs @ transposed).rounded(
                self.exponents[f"dM{number}" if number - 1 == weight.source else
                               f"dC{weight.source}"])
            spread = layer.order != LINEAR and not weight.root
            back[weight.source].append(self.edges.T @ product if spread else product)


@pytest.mark.parametrize(("net", "width", "tightness"), [
    *[(network(dropout=dropout, orders=orders), width, tightness) for orders in ORDERS
      for width, dropout, tightness in ((16, 0.4, 0.05), (16, 0.0, 0.05), (8, 0.4, None))],
    *[(net, width, tightness) for net in OTHERS.values()
      for width, tightness in ((16, 0.2 if len(net.layers) <= 3 else None), (8, None))],
])
def test_gradients_are_those_of_real_numbers(net, width, tightness):
    """Within the bound of ``Bounds``, which must be tight for 16 bits and few layers."""
    fixed = FixedGcn(net, Recipe(element_width=width), *data(sparse=False))

    def real_value(name):
        return np.asarray(fixed.tensors[name]) * 2.0**fixed.exponents[name]

    adjacency = fixed.tensors["A"] * 2.0 ** fixed.exponents["A"]
    real = FloatGcn(fixed.network, fixed.recipe, adjacency, real_value("X"), fixed.labels,
                    fixed.splits)
    real.parameters = {name: real_value(name) for name in real.parameters}
    expected = real.gradients(real.forward(training=True))
    result = fixed._forward(training=True)  # what train_step does before it updates
    fixed._backward(result)
    assert not +fixed.saturations
    count = np.count_nonzero(fixed.splits == Split.TRAIN)
    for name, bounded in Bounds(fixed, real).run(fixed).items():
        np.testing.assert_allclose(bounded.value / count, expected[name], atol=1e-12)
        gradient = fixed.gradients[name]
        found = gradient.accumulators * 2.0**gradient.exponent * fixed.gains[name]
        assert np.all(abs(found - expected[name]) <= bounded.error / count), name
        if width == 16:
            assert abs(found - expected[name]).max() < 0.005 * abs(expected[name]).max(), name
        if tightness:
            assert bounded.error.max() / count < tightness * abs(expected[name]).max(), name


@pytest.mark.parametrize("net", OTHERS.values(), ids=OTHERS.keys())
def test_evaluation_changes_nothing(net):
    arguments = net, Recipe(), *data()
    watched, alone = FixedGcn(*arguments), FixedGcn(*arguments)
    for _ in range(3):
        watched.evaluate()
        watched.train_step()
        alone.train_step()
    watched.evaluate()
    for name, master in alone.masters.items():
        assert np.array_equal(watched.masters[name], master)
        assert np.array_equal(watched.momenta[name], alone.momenta[name])


@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("net", OTHERS.values(), ids=OTHERS.keys())
def test_first_step_is_calibrated(net, width):
    """Nothing saturates in the first step, nor in what shares an exponent with others."""
    gcn = FixedGcn(net, Recipe(element_width=width), *data())
    gcn.evaluate()
    gcn.train_step()
    assert not +gcn.saturations


def test_identity_stays():
    gcn = FixedGcn(OTHERS["residual"], Recipe(learning_rates=(0.3,)), *data())
    for _ in range(5):
        gcn.train_step()
    assert np.array_equal(gcn.masters["I2"], np.eye(8) * 2**26)
    assert np.array_equal(gcn.tensors["I2"] * 2.0 ** gcn.exponents["I2"], np.eye(8))


def test_large_edge_weights_are_refused_where_rows_are_added():
    adjacency, *rest = data()
    with pytest.raises(ValueError, match=r"edge weights reach .* must be below 32768; scale"):
        FixedGcn(OTHERS["sage"], Recipe(), adjacency * 2.0**17, *rest)
