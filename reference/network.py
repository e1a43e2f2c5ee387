"""What is trained and how: the network, dropout's constants, and the training recipe."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from hypercast.reference.arithmetic import Rates, keep_mask
from hypercast.rtl.isa import MASTER_EXPONENT

__all__ = [
    "AGGREGATE_FIRST", "COMBINE_FIRST", "NORMALISATIONS", "Dropout", "Layer", "Network", "Recipe",
    "initial_parameters",
]

#: ``A (H W)``: rows are multiplied by the weights, then summed over neighbours.
COMBINE_FIRST = "combine_first"
#: ``(A H) W``: rows are summed over neighbours, then multiplied by the weights.
AGGREGATE_FIRST = "aggregate_first"
#: How edge weights are made; ``host.graph.Graph.normalised`` explains each.
NORMALISATIONS = ("symmetric", "mean", "given")

#: Layer ``l`` hashes with key ``l * LAYER_KEY_INCREMENT`` (a constant of MurmurHash3), so that no
#: two layers share a key within any realistic number of steps.
LAYER_KEY_INCREMENT = 0x85EBCA6B


def _require(condition, message):
    if not condition:
        raise ValueError(message)


@dataclass(frozen=True, kw_only=True)
class Dropout:
    """Dropout of one layer's input in the chip's terms.

    What is kept would be multiplied by ``1 / (1 - p)``; the chip does so where the product that
    uses it is drained, as ``2**exponent * multiplier / 65536``.

    Parameters
    ----------
    key : int
        32 bits, the layer's; the step key is added to it.
    threshold : int
        16 bits; an element is dropped with probability ``threshold / 65536``.
    exponent : int
        Added to the exponent of the product (DRAIN's ``exponent_bias``).
    multiplier : int
        32769 to 65535, or 0 for exactly ``2**exponent`` (DRAIN's ``scale``).
    """

    key: int = 0
    threshold: int = 0
    exponent: int = 0
    multiplier: int = 0

    @classmethod
    def from_rate(cls, rate, layer):
        """Constants for probability ``rate`` (below one) on the input of ``layer`` (from 1)."""
        threshold = round(rate * 65536)
        _require(0 <= threshold < 65536, f"dropout must be at least 0 and below 1, not {rate}")
        scale = 65536 / (65536 - threshold)
        exponent = math.ceil(math.log2(scale))
        multiplier = round(65536 * scale / 2**exponent)
        if multiplier == 32768:  # 2**(exponent - 1), a little more before it was rounded
            exponent -= 1
        return cls(key=layer * LAYER_KEY_INCREMENT & 0xFFFFFFFF, threshold=threshold,
                   exponent=exponent, multiplier=multiplier if 32768 < multiplier < 65536 else 0)

    @property
    def scale(self):
        """What the chip multiplies by, as a float."""
        return 2.0**self.exponent * (self.multiplier / 65536 or 1.0)

    def keep(self, step_key, ranks, features):
        """``keep_mask`` of this layer at a step."""
        key = (self.key + step_key) & 0xFFFFFFFF
        return keep_mask(key, self.threshold, ranks, features)

    def apply(self, matrix, step_key):
        """``matrix`` (dense or CSR) with the dropped elements zero.

        Row numbers are the ranks. Nothing is scaled.
        """
        if self.threshold == 0:
            return matrix
        if scipy.sparse.issparse(matrix):
            ranks = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
            keep = self.keep(step_key, ranks, matrix.indices)
            return scipy.sparse.csr_array(
                (matrix.data * keep, matrix.indices, matrix.indptr), shape=matrix.shape)
        rows, columns = matrix.shape
        return matrix * self.keep(step_key, np.arange(rows)[:, None], np.arange(columns)[None, :])


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One graph convolution: ``A dropout(H) W + b``.

    Parameters
    ----------
    features_in, features_out : int
        Shape of the weights.
    order : str
        ``COMBINE_FIRST`` or ``AGGREGATE_FIRST``: which product comes first.
    dropout : float
        Probability with which an element of the layer's input is dropped in training.

    Raises
    ------
    ValueError
        If a field is out of range.
    """

    features_in: int
    features_out: int
    order: str = COMBINE_FIRST
    dropout: float = 0.0

    def __post_init__(self):
        for name in ("features_in", "features_out"):
            value = getattr(self, name)
            _require(value >= 1, f"{name} must be at least 1, not {value}")
        _require(self.order in (COMBINE_FIRST, AGGREGATE_FIRST),
                 f"order must be {COMBINE_FIRST} or {AGGREGATE_FIRST}, not {self.order!r}")
        Dropout.from_rate(self.dropout, 1)


@dataclass(frozen=True, kw_only=True)
class Network:
    """A graph convolutional network: layers with a bias each, ReLU between them.

    Parameters
    ----------
    layers : tuple of Layer
        First to last; the last one's outputs are the logits.

    Raises
    ------
    ValueError
        If the layers do not fit each other, or if the first one aggregates first although its
        input has dropout: the features would have to be stored anew in every step.
    """

    layers: tuple[Layer, ...]

    def __post_init__(self):
        _require(self.layers, "a network needs at least one layer")
        for number, (layer, following) in enumerate(itertools.pairwise(self.layers), 1):
            _require(layer.features_out == following.features_in,
                     f"layer {number} has {layer.features_out} outputs, but layer {number + 1} "
                     f"has {following.features_in} inputs")
        first = self.layers[0]
        _require(first.order == COMBINE_FIRST or first.dropout == 0,
                 f"layer 1 cannot aggregate first with dropout {first.dropout} on its input; "
                 f"use {COMBINE_FIRST} or dropout 0")

    @classmethod
    def of_widths(cls, widths, *, dropout=0.0, orders=COMBINE_FIRST):
        """A network of ``len(widths) - 1`` layers with the same dropout everywhere.

        ``orders`` is one order for all layers, or a sequence of one per layer.
        """
        pairs = list(itertools.pairwise(widths))
        orders = [orders] * len(pairs) if isinstance(orders, str) else orders
        return cls(layers=tuple(
            Layer(features_in=features_in, features_out=features_out, order=order,
                  dropout=dropout)
            for (features_in, features_out), order in zip(pairs, orders, strict=True)))

    @property
    def features(self):
        """Input features of a vertex."""
        return self.layers[0].features_in

    @property
    def classes(self):
        """Number of logits."""
        return self.layers[-1].features_out

    @property
    def dropouts(self):
        """Dropout constants, one per layer."""
        return tuple(Dropout.from_rate(layer.dropout, number)
                     for number, layer in enumerate(self.layers, 1))


def _mantissa_and_shift(value):
    """``value`` as ``mantissa / 2**shift``, 16 and 6 bits."""
    shift = min(16 - math.frexp(value)[1], 63) if value else 0
    if round(math.ldexp(value, shift)) == 65536:
        shift -= 1
    _require(value >= 0 and shift >= 0, f"optimiser constant {value} is not in 0 to 65535")
    return round(math.ldexp(value, shift)), shift


def _of_layer(values, layer):
    """Entry of ``layer`` (from 1); the last one holds for all beyond."""
    return values[min(layer, len(values)) - 1]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a network is trained: SGD with momentum on the mean cross-entropy (in nats).

    ``v = momentum * v + gradient + weight_decay * w``; ``w = w - learning_rate * v``.

    Parameters
    ----------
    epochs : int
        Training steps; each sees the whole graph.
    learning_rates, bias_learning_rates, weight_decays : tuple of float
        Of weights, biases, and weights again: one per layer; the last one also holds for all
        layers beyond. Biases do not decay.
    schedule : tuple of (int, float)
        From epoch (ascending) on, the learning rates are multiplied by the factor.
    momentum : float
        At least 0 and below 1.
    seed : int
        Of the initial weights and, modulo ``2**32``, of dropout.
    element_width : int
        Bits of a tensor element: 8 or 16.
    headroom : int, optional
        0 to 3 bits left free above the largest magnitude a tensor had in the step before. If not
        given, 1 with 16-bit elements, and 0 with 8-bit ones, which need their resolution more.
    normalisation : str
        One of ``NORMALISATIONS``.
    normalise_features : bool
        Whether each vertex's features are divided by the sum of their magnitudes.

    Raises
    ------
    ValueError
        If a field is out of range.
    """

    epochs: int = 200
    learning_rates: tuple[float, ...] = (0.05,)
    bias_learning_rates: tuple[float, ...] = (0.05,)
    weight_decays: tuple[float, ...] = (5e-3, 0.0)
    schedule: tuple[tuple[int, float], ...] = ()
    momentum: float = 0.9
    seed: int = 0
    element_width: int = 16
    headroom: int | None = None
    normalisation: str = "symmetric"
    normalise_features: bool = False

    def __post_init__(self):
        _require(self.epochs >= 0, f"epochs must be at least 0, not {self.epochs}")
        for name in ("learning_rates", "bias_learning_rates", "weight_decays"):
            values = getattr(self, name)
            _require(values and all(0 <= value < math.inf for value in values),
                     f"{name} must be one or more finite numbers, none negative, not {values}")
        starts = [epoch for epoch, _ in self.schedule]
        _require(starts == sorted(starts), f"schedule must be in order of epochs, not {starts}")
        _require(0 <= round(self.momentum * 65536) < 65536,
                 f"momentum must be at least 0 and below 1, not {self.momentum}")
        _require(self.seed >= 0, f"seed must be at least 0, not {self.seed}")
        _require(self.element_width in (8, 16),
                 f"element_width must be 8 or 16, not {self.element_width}")
        if self.headroom is None:
            object.__setattr__(self, "headroom", 1 if self.element_width == 16 else 0)
        _require(0 <= self.headroom <= 3, f"headroom must be 0 to 3, not {self.headroom}")
        _require(self.normalisation in NORMALISATIONS,
                 f"normalisation must be one of {', '.join(NORMALISATIONS)}, "
                 f"not {self.normalisation!r}")

    def learning_rate(self, name, epoch):
        """Learning rate of parameter ``name`` (W1, b1, ...) in ``epoch`` (from 0)."""
        rates = self.learning_rates if name.startswith("W") else self.bias_learning_rates
        factors = [factor for start, factor in self.schedule if start <= epoch]
        return _of_layer(rates, int(name[1:])) * (factors[-1] if factors else 1.0)

    def weight_decay(self, name):
        """Weight decay of parameter ``name``."""
        return _of_layer(self.weight_decays, int(name[1:])) if name.startswith("W") else 0.0

    def rates(self, learning_rate, weight_decay, gain, momentum_exponent):
        """Constants of an UPDATE.

        The chip's momenta are in units of ``2**momentum_exponent`` and take in the accumulated
        gradient as it is, so ``v`` is larger than above by the factor ``1 / gain``.

        Parameters
        ----------
        learning_rate, weight_decay : float
            Of the tensor in this epoch.
        gain : float
            The loss's gradient divided by the accumulated one.
        momentum_exponent : int
            See above.

        Raises
        ------
        ValueError
            If a constant is too large for its 16-bit mantissa.
        """
        unit = 2.0 ** (MASTER_EXPONENT - momentum_exponent)
        decay, decay_shift = _mantissa_and_shift(weight_decay / gain * unit)
        rate, rate_shift = _mantissa_and_shift(learning_rate * gain / unit)
        return Rates(momentum=round(self.momentum * 65536), decay=decay, decay_shift=decay_shift,
                     rate=rate, rate_shift=rate_shift)


def initial_parameters(network, seed):
    """Glorot-uniform weights and zero biases, as a dictionary of float64 arrays W1, b1, W2, ...

    (Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks,
    2010.)
    """
    generator = np.random.default_rng(seed)
    parameters = {}
    for number, layer in enumerate(network.layers, 1):
        limit = math.sqrt(6 / (layer.features_in + layer.features_out))
        parameters[f"W{number}"] = generator.uniform(
            -limit, limit, (layer.features_in, layer.features_out))
        parameters[f"b{number}"] = np.zeros(layer.features_out)
    return parameters
