"""Training a graph convolutional network exactly as the chip does, tensor by tensor.

Every product is an exact integer, every rounding is one of ``arithmetic``'s. The chip works on
the same tensors panel by panel and core by core; that changes none of their bits.
"""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
import scipy.sparse

from hypercast.reference.arithmetic import (
    LOSS_EXPONENT,
    align,
    bit_length,
    requantize,
    softmax_gradient,
    update,
)
from hypercast.reference.bounds import check_accumulators
from hypercast.reference.exponents import ExponentFile
from hypercast.reference.metrics import Metrics
from hypercast.reference.network import COMBINE_FIRST, Dropout, initial_parameters
from hypercast.reference.quantization import quantize, without_common_factor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import MASTER_EXPONENT, STEP_KEY_INCREMENT, Split

__all__ = ["FixedGcn", "Gradient"]

_NO_DROPOUT = Dropout()


class Gradient(NamedTuple):
    """A parameter's accumulated gradient, ``left.T @ right``.

    Attributes
    ----------
    left, right : array or scipy.sparse array
        Mantissas, a row per vertex.
    accumulators : numpy.ndarray
        Their product.
    exponent : int
        Of the accumulators.
    """

    left: np.ndarray | scipy.sparse.csr_array
    right: np.ndarray
    accumulators: np.ndarray
    exponent: int

    @property
    def reach(self):
        """Every accumulator would be below ``2**reach`` even if no two terms cancelled."""
        return self.exponent + bit_length(_product(abs(self.left).T, abs(self.right)))


def _product(a, b):
    """Exact product of integer matrices; ``check_accumulators`` has bounded its sums.

    They fit in 48 bits and a float64 holds 53, so a dense product may use the fast BLAS.
    """
    if scipy.sparse.issparse(a):
        return np.asarray((a @ b).todense() if scipy.sparse.issparse(b) else a @ b)
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)


class FixedGcn:
    """A network in training, bit for bit as on the chip.

    Row ``k`` of every matrix is the vertex of rank ``k``.

    Parameters
    ----------
    network : Network
        What is trained.
    recipe : Recipe
        How.
    adjacency : (V, V) scipy.sparse array
        Normalised edge weights; row i holds the edges towards vertex i.
    features : (V, F) array or scipy.sparse array
        Input features.
    labels : (V,) array of int
        Classes; -1 where there is none.
    splits : (V,) array of int
        ``Split`` of each vertex.

    Attributes
    ----------
    tensors : dict
        Mantissas by name, as last computed: A (edge weights), X (features); of layer 2, say, W2
        and b2 (operands), T2 (features times weights) or M2 (aggregated features), H2 (hidden
        features, the dropped ones zero), Z2 (logits, of the last layer); gradients dT2 or dM2 and
        dZ2 (with respect to the sums before ReLU). Those of ``evaluate`` end in ``.eval``.
    exponents : ExponentFile
        Their exponents; besides, "one" for the ones that sum a bias gradient.
    masters, momenta : dict
        int32 values of each parameter, by name.
    momentum_exponents : dict
        Exponent of each parameter's momenta, fixed from the first step on.
    gains : dict
        Gradient of the mean loss divided by the accumulated gradient, of each parameter.
    gradients : dict
        ``Gradient`` of each parameter in the last step.
    masks : dict
        Where hidden features were positive and kept, by their tensor's name.
    saturations : collections.Counter
        Elements that saturated so far, by tensor.
    epoch : int
        Training steps done.
    step_key : int
        32 bits, added to dropout's keys in the next step.

    Raises
    ------
    ValueError
        If network and data do not fit each other, or an accumulator might overflow.
    """

    def __init__(self, network, recipe, adjacency, features, labels, splits):
        self.network = network
        self.recipe = recipe
        self.labels = np.asarray(labels, dtype=np.int64)
        self.splits = np.asarray(splits, dtype=np.int64)
        self._check(adjacency, features)
        self._width = recipe.element_width
        self.exponents = ExponentFile(
            self._width, Config(element_width=self._width).accumulator_width, recipe.headroom)
        self.tensors = {}
        for name, matrix in (("A", scipy.sparse.csr_array(adjacency)), ("X", features)):
            self.tensors[name], self.exponents[name] = quantize(matrix, self._width)
        # Smaller mantissas have smaller sums, and values stay: fewer digits of them are sent.
        self.tensors["X"], self.exponents["X"] = without_common_factor(
            self.tensors["X"], self.exponents["X"])
        self.exponents["one"] = 0
        check_accumulators(network, self.tensors["A"], self.tensors["X"], self._width)
        self._backward_edges = self.tensors["A"].T.tocsr()
        self.masters = {
            name: np.rint(np.ldexp(value, -MASTER_EXPONENT)).astype(np.int64)
            for name, value in initial_parameters(network, recipe.seed).items()}
        self.momenta = {name: np.zeros_like(master) for name, master in self.masters.items()}
        self.gains = self._gains()
        self.momentum_exponents = {}
        self.gradients = {}
        self.masks = {}
        self.saturations = Counter()
        self.epoch = 0
        self.step_key = recipe.seed & 0xFFFFFFFF
        self._ones = np.ones(len(self.labels), dtype=np.int64)
        self._inputs = {}
        self._settle = self.exponents.settle
        self._calibrate()

    def _check(self, adjacency, features):
        vertices = len(self.labels)
        for name, shape, expected in (
                ("adjacency", adjacency.shape, (vertices, vertices)),
                ("features", features.shape, (vertices, self.network.features)),
                ("splits", self.splits.shape, (vertices,))):
            if shape != expected:
                raise ValueError(f"{name} must have shape {expected}, not {shape}")
        if self.labels.max(initial=-1) >= self.network.classes:
            raise ValueError(f"label {self.labels.max()} does not fit the network's "
                             f"{self.network.classes} outputs")
        if not np.any(self.splits == Split.TRAIN):
            raise ValueError("there is no vertex to train on: none is in Split.TRAIN")

    def _gains(self):
        """The chip does not divide by the number of training vertices, and a layer that combines
        first takes its weight gradient from inputs that are dropped but not scaled."""
        count = int(np.count_nonzero(self.splits == Split.TRAIN))
        gains = {}
        for number, layer in enumerate(self.network.layers, 1):
            scale = self.network.dropouts[number - 1].scale
            gains[f"W{number}"] = (scale if layer.order == COMBINE_FIRST else 1.0) / count
            gains[f"b{number}"] = 1.0 / count
        return gains

    # Exponents of the first step.

    def _calibrate(self):
        """Choose all exponents for the first step, from a trial of it that leaves no other trace.

        A parameter's exponent has room for its values before and after that step.
        """
        for name, master in self.masters.items():
            self._set_operand(name, bit_length(master))
        self._settle = self.exponents.calibrate
        self._forward(training=False)
        self._backward(self._forward(training=True))
        self._settle = self.exponents.settle
        for name, gradient in self.gradients.items():
            build_up = math.ceil(math.log2(1 / (1 - self.recipe.momentum)))
            # Room for 16 times what such gradients build up to; but more than 12 bits of
            # resolution below the gradient's own unit is useless, and where gradients are all
            # zero, decay's constant must still fit its 16 bits.
            decay = self.recipe.weight_decay(name) / self.gains[name]
            self.momentum_exponents[name] = max(
                gradient.reach + build_up + 4 - 31, gradient.exponent - 12,
                MASTER_EXPONENT + math.frexp(decay)[1] - 16)
            updated = self._updated(name, operand_shift=0).master
            self._set_operand(name, max(bit_length(self.masters[name]), bit_length(updated)))
        self.saturations.clear()

    def _set_operand(self, name, bits):
        self.exponents.calibrate(name, MASTER_EXPONENT, bits)
        shift = self.exponents.shift(name, MASTER_EXPONENT)
        self.tensors[name], _ = requantize(self.masters[name], shift, self._width)

    # A step.

    def train_step(self):
        """Forward, backward, update: one epoch.

        Returns
        -------
        Metrics
            Of the forward pass, which had dropout and the parameters before the update.

        Raises
        ------
        ExponentError, AlignmentError
            Where the chip would stop.
        """
        rows = self._forward(training=True)
        self._backward(rows)
        for name in self.gradients:
            self._update(name)
        self.epoch += 1
        self.step_key = (self.step_key + STEP_KEY_INCREMENT) & 0xFFFFFFFF
        return self._metrics(rows)

    def evaluate(self):
        """Forward only, without dropout; training goes on as if it had not been.

        Exponents follow the peaks of the last training step's tensors.

        Returns
        -------
        Metrics
            Of the present parameters.

        Raises
        ------
        ExponentError, AlignmentError
            Where the chip would stop.
        """
        return self._metrics(self._forward(training=False))

    def rates(self, name, epoch):
        """Constants with which parameter ``name`` is updated in ``epoch`` (from 0)."""
        return self.recipe.rates(self.recipe.learning_rate(name, epoch),
                                 self.recipe.weight_decay(name), self.gains[name],
                                 self.momentum_exponents[name])

    def _metrics(self, rows):
        return Metrics.of_vertices(self.splits, rows.loss, rows.predicted == self.labels)

    def _forward(self, training):
        """All layers and the loss; returns its ``LossRow``."""
        suffix = "" if training else ".eval"
        layers = len(self.network.layers)
        source = "X"
        for number in range(1, layers + 1):
            factors, sums = self._convolve(number, source, training)
            bias = f"b{number}"
            sums += align(self.tensors[bias],
                          self.exponents.bias_shift(bias, self._base(factors)))
            source = f"{'H' if number < layers else 'Z'}{number}{suffix}"
            if number < layers:
                mask = sums > 0
                if training:
                    mask = self.network.dropouts[number].apply(mask, self.step_key)
                    self.masks[source] = mask
                sums *= mask
            self._drain(source, factors, sums)
        return softmax_gradient(
            self.tensors[source], self.labels, self.exponents.loss_shift(source))

    def _convolve(self, number, source, training):
        """Both products of a layer: the factors of the second one, and its accumulators."""
        dropout = self.network.dropouts[number - 1] if training else _NO_DROPOUT
        suffix = "" if training else ".eval"
        weights, inputs = f"W{number}", self.tensors[source]
        if number == 1:  # hidden features have been dropped when they were drained
            inputs = dropout.apply(inputs, self.step_key)
        if training:
            self._inputs[number] = source, inputs
        if self.network.layers[number - 1].order == COMBINE_FIRST:
            combined = f"T{number}{suffix}"
            self._drain(combined, (source, weights),
                        _product(inputs, self.tensors[weights]), dropout)
            return ("A", combined), _product(self.tensors["A"], self.tensors[combined])
        aggregated = f"M{number}{suffix}"
        self._drain(aggregated, ("A", source), _product(self.tensors["A"], inputs), dropout)
        return (aggregated, weights), _product(self.tensors[aggregated], self.tensors[weights])

    def _backward(self, rows):
        """All gradients, from the ``LossRow`` of the logits."""
        layers = len(self.network.layers)
        train = self.splits == Split.TRAIN
        self._store(f"dZ{layers}", rows.gradient * train[:, None], LOSS_EXPONENT)
        for number in range(layers, 0, -1):
            self._parameter_gradients(number)
            if number > 1:
                factors, sums = self._input_gradient(number)
                self._drain(f"dZ{number - 1}", factors, sums * self.masks[f"H{number - 1}"],
                            self.network.dropouts[number - 1])

    def _parameter_gradients(self, number):
        """Gradients of a layer's weights and bias, from that of its outputs."""
        outputs = f"dZ{number}"
        gradient = self.tensors[outputs]
        self._set_gradient(f"b{number}", ("one", outputs), self._ones, gradient)
        if self.network.layers[number - 1].order == COMBINE_FIRST:
            source, inputs = self._inputs[number]
            combined = f"dT{number}"
            self._drain(combined, ("A", outputs), _product(self._backward_edges, gradient))
            self._set_gradient(f"W{number}", (source, combined), inputs, self.tensors[combined])
        else:
            source = f"M{number}"
            self._set_gradient(f"W{number}", (source, outputs), self.tensors[source], gradient)

    def _set_gradient(self, name, factors, left, right):
        self.gradients[name] = Gradient(
            left, right, _product(left.T, right), self._base(factors))

    def _input_gradient(self, number):
        """Factors and accumulators of the gradient of a layer's inputs."""
        weights = f"W{number}"
        transposed = self.tensors[weights].T
        if self.network.layers[number - 1].order == COMBINE_FIRST:
            combined = f"dT{number}"
            return (combined, weights), _product(self.tensors[combined], transposed)
        outputs, aggregated = f"dZ{number}", f"dM{number}"
        self._drain(aggregated, (outputs, weights), _product(self.tensors[outputs], transposed))
        return ("A", aggregated), _product(self._backward_edges, self.tensors[aggregated])

    def _update(self, name):
        self.exponents.open(name, MASTER_EXPONENT)
        result = self._updated(name, self.exponents.shift(name, MASTER_EXPONENT))
        self.exponents.fold(name, MASTER_EXPONENT, result.magnitude.bit_length())
        self.masters[name], self.momenta[name] = result.master, result.momentum
        self.tensors[name] = result.operand
        self.saturations[name] += result.saturations

    def _updated(self, name, operand_shift):
        """The ``UpdateResult`` of a parameter; changes nothing."""
        gradient, momentum_exponent = self.gradients[name], self.momentum_exponents[name]
        shift = self.exponents.gradient_shift(name, momentum_exponent, gradient.exponent)
        return update(gradient.accumulators, self.masters[name], self.momenta[name],
                      self.rates(name, self.epoch), shift, operand_shift, self._width)

    # A tensor.

    def _drain(self, name, factors, sums, dropout=_NO_DROPOUT):
        """The product of two tensors, times the scale of ``dropout``, becomes a tensor."""
        self._store(name, sums, self._base(factors) + dropout.exponent)
        if dropout.multiplier:
            self.tensors[name], _ = requantize(
                self.tensors[name] * dropout.multiplier, 16, self._width)

    def _store(self, name, sums, base):
        """Requantize accumulators of exponent ``base``."""
        self._settle(name, base, bit_length(sums), peak_of=name.removesuffix(".eval"))
        self.tensors[name], saturated = requantize(
            sums, self.exponents.shift(name, base), self._width)
        self.saturations[name] += saturated

    def _base(self, factors):
        return sum(self.exponents[factor] for factor in factors)
