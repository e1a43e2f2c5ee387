"""What is trained and how: the network, dropout's constants, and the training recipe."""

import itertools
import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hypercast.reference.adam import AdamRates
from hypercast.reference.arithmetic import Rates
from hypercast.reference.dropout import Dropout
from hypercast.reference.quantization import mantissa_and_shift
from hypercast.reference.slots import slot
from hypercast.rtl.isa import MASTER_EXPONENT

__all__ = [
    "AGGREGATE_FIRST", "BINARY_CROSS_ENTROPY", "COMBINE_FIRST", "CROSS_ENTROPY", "LINEAR", "LOSSES",
    "NORMALISATIONS", "OPTIMISERS", "ROOT_IDENTITY", "ROOT_WEIGHTS", "Dropout", "Layer", "Network",
    "Recipe", "Weight", "initial_parameters",
]

#: ``A (H W)``: rows are multiplied by the weights, then summed over neighbours.
COMBINE_FIRST = "combine_first"
#: ``(A H) W``: rows are summed over neighbours, then multiplied by the weights.
AGGREGATE_FIRST = "aggregate_first"
#: ``H W``: nothing is summed over neighbours, as in a multilayer perceptron.
LINEAR = "linear"
#: A vertex's own features are added, multiplied by weights of their own: GraphSAGE.
ROOT_WEIGHTS = "weights"
#: A vertex's own features are added as they are: a residual connection.
ROOT_IDENTITY = "identity"
#: How edge weights are made; ``host.graph.Graph.normalised`` explains each.
NORMALISATIONS = ("symmetric", "mean", "given", "neighbours", "sum")
#: How weights follow their gradients; ``Recipe`` explains each.
OPTIMISERS = ("sgd", "adam")

#: Of the softmax of a vertex's logits; it has one class.
CROSS_ENTROPY = "cross_entropy"
#: Of the sigmoid of each logit, the mean over a vertex's labels; it may have any of them.
BINARY_CROSS_ENTROPY = "binary_cross_entropy"
LOSSES = (CROSS_ENTROPY, BINARY_CROSS_ENTROPY)


def _require(condition, message):
    if not condition:
        raise ValueError(message)


class Weight(NamedTuple):
    """A matrix of weights, and what it multiplies.

    Attributes
    ----------
    name : str
        W2, say, of layer 2; R2 and I2, what multiplies a vertex's own features besides, I2 being
        the identity, which is not trained; W3.1 and W3.2, if layer 3 has the outputs of layers 1
        and 2 as its inputs.
    source : int
        Layer whose outputs it multiplies; 0 for the input features.
    shape : tuple of int
        Rows and columns.
    """

    name: str
    source: int
    shape: tuple[int, int]

    @property
    def root(self):
        """Whether the product is added as it is, not summed over neighbours."""
        return self.name[0] in "RI"


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A graph convolution, ``A dropout(H) W + b``, or a linear layer, ``dropout(H) W + b``.

    Parameters
    ----------
    features_in, features_out : int
        Shape of the weights.
    order : str
        ``COMBINE_FIRST`` or ``AGGREGATE_FIRST``: which product comes first; or ``LINEAR``.
    dropout : float
        Probability with which an element of the layer's input is dropped in training. That of a
        linear layer is scaled where the bias has been added: by a power of two only.
    root : str, optional
        ``ROOT_WEIGHTS`` or ``ROOT_IDENTITY``: what ``dropout(H)`` is multiplied by and added
        besides, in a convolution that combines first.

    Raises
    ------
    ValueError
        If a field is out of range, or they do not fit each other.
    """

    features_in: int
    features_out: int
    order: str = COMBINE_FIRST
    dropout: float = 0.0
    root: str | None = None

    def __post_init__(self):
        for name in ("features_in", "features_out"):
            value = getattr(self, name)
            _require(value >= 1, f"{name} must be at least 1, not {value}")
        orders = COMBINE_FIRST, AGGREGATE_FIRST, LINEAR
        _require(self.order in orders,
                 f"order must be {' or '.join(orders)}, not {self.order!r}")
        _require(self.root in (None, ROOT_WEIGHTS, ROOT_IDENTITY),
                 f"root must be {ROOT_WEIGHTS}, {ROOT_IDENTITY} or None, not {self.root!r}")
        _require(self.order in self.orders,
                 f"a layer that adds a vertex's own features must be {COMBINE_FIRST}, not "
                 f"{self.order}")
        _require(self.root != ROOT_IDENTITY or self.features_in == self.features_out,
                 f"a residual connection needs as many inputs as outputs, not {self.features_in} "
                 f"and {self.features_out}")
        scale = Dropout.from_rate(self.dropout, 1)
        _require(self.order != LINEAR or scale.multiplier == 0,
                 f"dropout of a linear layer must be 0, 0.5, 0.75 or another 1 - 2**-k, not "
                 f"{self.dropout}")

    @property
    def orders(self):
        """The orders that a layer of this kind can have."""
        if self.root:
            return (COMBINE_FIRST,)
        return (LINEAR,) if self.order == LINEAR else (COMBINE_FIRST, AGGREGATE_FIRST)


@dataclass(frozen=True, kw_only=True)
class Network:
    """A graph neural network: layers with a bias each, ReLU between them.

    Parameters
    ----------
    layers : tuple of Layer
        First to last; the last one's outputs are the logits.
    jumping : tuple of int
        Layers whose outputs, side by side, are the inputs of the last one, which is linear, and
        whose outputs have dropout of the same rate (Xu et al., Representation Learning on Graphs
        with Jumping Knowledge Networks, 2018). Empty if it has those of the layer before only.

    Raises
    ------
    ValueError
        If the layers do not fit each other, or if the first one aggregates first although its
        input has dropout: the features would have to be stored anew in every step.
    """

    layers: tuple[Layer, ...]
    jumping: tuple[int, ...] = ()

    def __post_init__(self):
        _require(self.layers, "a network needs at least one layer")
        pairs = list(enumerate(itertools.pairwise(self.layers), 1))
        for number, (layer, following) in pairs[:-1] if self.jumping else pairs:
            _require(layer.features_out == following.features_in,
                     f"layer {number} has {layer.features_out} outputs, but layer {number + 1} "
                     f"has {following.features_in} inputs")
        first = self.layers[0]
        _require(first.order != AGGREGATE_FIRST or first.dropout == 0,
                 f"layer 1 cannot aggregate first with dropout {first.dropout} on its input; "
                 f"use {COMBINE_FIRST} or dropout 0")
        if self.jumping:
            self._check_jumping()

    def _check_jumping(self):
        last, found = self.layers[-1], self.jumping
        before = len(self.layers) - 1
        _require(sorted({*found}) == list(found) and found[0] >= 1 and found[-1] == before,
                 f"jumping must be layers in ascending order, the last of them {before}, not "
                 f"{found}")
        _require(last.order == LINEAR, f"the last layer must be {LINEAR} to take the outputs of "
                                       f"layers {found}, not {last.order}")
        total = sum(self.layers[number - 1].features_out for number in found)
        _require(last.features_in == total, f"layers {found} have {total} outputs, but the last "
                                            f"layer has {last.features_in} inputs")
        rates = {self.layers[number].dropout for number in found}
        _require(len(rates) == 1, f"the outputs of layers {found} must have the same dropout, not "
                                  f"{', '.join(map(str, sorted(rates)))}")

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

    def ordered(self, orders):
        """The same network with other orders of its layers' products."""
        layers = zip(self.layers, orders, strict=True)
        return replace(self, layers=tuple(replace(layer, order=order) for layer, order in layers))

    def weights(self, number):
        """The ``Weight`` matrices of a layer (from 1), the ones of its root last."""
        layer = self.layers[number - 1]
        if self.jumping and number == len(self.layers):
            return tuple(Weight(f"W{number}.{source}", source, (
                self.layers[source - 1].features_out, layer.features_out))
                for source in self.jumping)
        roots = {None: "", ROOT_WEIGHTS: "R", ROOT_IDENTITY: "I"}[layer.root]
        return tuple(Weight(f"{letter}{number}", number - 1,
                            (layer.features_in, layer.features_out)) for letter in f"W{roots}")

    def sums_gradients(self, number):
        """Whether the gradient of a layer's inputs is a sum over neighbours, or of other rows.

        If not, it is a product with transposed weights.
        """
        layer = self.layers[number - 1]
        return (layer.order == AGGREGATE_FIRST or layer.root is not None
                or number - 1 in self.jumping[:-1])

    def slot(self, name):
        """The exponent file's entry of a tensor, see ``slots``."""
        return slot(name, jumping=bool(self.jumping))

    @property
    def inputs(self):
        """The ``Weight`` matrices that multiply the input features."""
        return [weight for weight in self.weights(1) if weight.source == 0]

    @property
    def adds_roots(self):
        """Whether rows are added to sums over neighbours anywhere, forward or backward."""
        return len(self.jumping) > 1 or any(layer.root for layer in self.layers)

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


def _of_layer(values, name):
    """Entry of a parameter's layer (from 1); the last one holds for all beyond."""
    layer = int(name[1:].partition(".")[0])
    return values[min(layer, len(values)) - 1]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a network is trained, on the mean loss of the vertices (in nats).

    With ``g`` the gradient plus ``weight_decay * w``:

    * ``"sgd"``: ``v = momentum * v + g``; ``w = w - learning_rate * v``;
    * ``"adam"`` (Kingma and Ba 2015): ``m = beta1 * m + (1 - beta1) * g``;
      ``v = beta2 * v + (1 - beta2) * g**2``;
      ``w = w - learning_rate * m / (1 - beta1**t) / (sqrt(v / (1 - beta2**t)) + epsilon)`` in step
      ``t``.

    Parameters
    ----------
    epochs : int
        Training steps; each sees the whole graph.
    learning_rates, bias_learning_rates, weight_decays : tuple of float
        Of weights, biases, and weights again: one per layer; the last one also holds for all
        layers beyond. Biases do not decay.
    schedule : tuple of (int, float)
        From epoch (ascending) on, the learning rates are multiplied by the factor.
    optimiser : str
        One of ``OPTIMISERS``.
    momentum : float
        Of SGD: at least 0 and below 1.
    betas : tuple of float
        Of Adam: ``beta1``, at least 0 and below 1, and ``beta2``, 0.5 to 0.9999.
    epsilon : float
        Of Adam: at least 0; what is below a small fraction of the momenta's unit counts as that.
    seed : int
        Of the initial weights and, modulo ``2**32``, of dropout.
    element_width : int
        Bits of a tensor element: 8 or 16.
    headroom : int, optional
        0 to 3 bits left free above the largest magnitude a tensor had in the step before. If not
        given, 1 with 16-bit elements, and 0 with 8-bit ones, which need their resolution more.
    normalisation : str
        One of ``NORMALISATIONS``.
    gin_epsilon : float
        GIN's, with normalisation "sum".
    normalise_features : bool
        Whether each vertex's features are divided by the sum of their magnitudes.
    loss : str
        One of ``LOSSES``, by what labels are: a class per vertex, or any of several.

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
    optimiser: str = "sgd"
    momentum: float = 0.9
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    seed: int = 0
    element_width: int = 16
    headroom: int | None = None
    normalisation: str = "symmetric"
    gin_epsilon: float = 0.0
    normalise_features: bool = False
    loss: str = CROSS_ENTROPY

    def __post_init__(self):
        _require(self.epochs >= 0, f"epochs must be at least 0, not {self.epochs}")
        for name in ("learning_rates", "bias_learning_rates", "weight_decays"):
            values = getattr(self, name)
            _require(values and all(0 <= value < math.inf for value in values),
                     f"{name} must be one or more finite numbers, none negative, not {values}")
        starts = [epoch for epoch, _ in self.schedule]
        _require(starts == sorted(starts), f"schedule must be in order of epochs, not {starts}")
        _require(self.optimiser in OPTIMISERS,
                 f"optimiser must be one of {', '.join(OPTIMISERS)}, not {self.optimiser!r}")
        _require(0 <= round(self.momentum * 65536) < 65536,
                 f"momentum must be at least 0 and below 1, not {self.momentum}")
        _require(len(self.betas) == 2 and 0 <= round(self.betas[0] * 65536) < 65536
                 and 0.5 <= self.betas[1] <= 0.9999,
                 f"betas must be two numbers, the first at least 0 and below 1, the second 0.5 to "
                 f"0.9999, not {self.betas}")
        _require(0 <= self.epsilon < math.inf,
                 f"epsilon must be finite and not negative, not {self.epsilon}")
        _require(self.seed >= 0, f"seed must be at least 0, not {self.seed}")
        _require(self.element_width in (8, 16),
                 f"element_width must be 8 or 16, not {self.element_width}")
        if self.headroom is None:
            object.__setattr__(self, "headroom", 1 if self.element_width == 16 else 0)
        _require(0 <= self.headroom <= 3, f"headroom must be 0 to 3, not {self.headroom}")
        _require(self.normalisation in NORMALISATIONS,
                 f"normalisation must be one of {', '.join(NORMALISATIONS)}, "
                 f"not {self.normalisation!r}")
        _require(math.isfinite(self.gin_epsilon),
                 f"gin_epsilon must be finite, not {self.gin_epsilon}")
        _require(self.loss in LOSSES, f"loss must be one of {', '.join(LOSSES)}, not {self.loss!r}")

    def learning_rate(self, name, epoch):
        """Learning rate of parameter ``name`` (W1, b1, ...) in ``epoch`` (from 0).

        The identity (I2, ...) stays as it is.
        """
        if name.startswith("I"):
            return 0.0
        rates = self.bias_learning_rates if name.startswith("b") else self.learning_rates
        factors = [factor for start, factor in self.schedule if start <= epoch]
        return _of_layer(rates, name) * (factors[-1] if factors else 1.0)

    def weight_decay(self, name):
        """Weight decay of parameter ``name``."""
        return 0.0 if name[0] in "bI" else _of_layer(self.weight_decays, name)

    @property
    def kept_momentum(self):
        """Share of the momenta that each step keeps."""
        return self.betas[0] if self.optimiser == "adam" else self.momentum

    def rates(self, learning_rate, weight_decay, gain, momentum_exponent, step=1):
        """Constants of an UPDATE.

        The chip's momenta are in units of ``2**momentum_exponent`` and take in the accumulated
        gradient as it is, so SGD's ``v`` is larger than above by the factor ``1 / gain``.

        Parameters
        ----------
        learning_rate, weight_decay : float
            Of the tensor in this epoch.
        gain : float
            The loss's gradient divided by the accumulated one.
        momentum_exponent : int
            See above.
        step : int
            Number of the step, from 1: Adam corrects its moments by it.

        Returns
        -------
        Rates or AdamRates

        Raises
        ------
        ValueError
            If a constant is too large for its field.
        """
        unit = 2.0 ** (MASTER_EXPONENT - momentum_exponent)
        if self.optimiser == "adam":
            return AdamRates.of_step(
                step, betas=self.betas, epsilon=self.epsilon, learning_rate=learning_rate,
                decay=weight_decay / gain * unit, unit=math.ldexp(gain, momentum_exponent),
                master_unit=2.0**MASTER_EXPONENT)
        decay, decay_shift = mantissa_and_shift(weight_decay / gain * unit)
        rate, rate_shift = mantissa_and_shift(learning_rate * gain / unit)
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
        for weight in network.weights(number):
            parameters[weight.name] = np.eye(*weight.shape) if weight.name.startswith("I") else \
                generator.uniform(-limit, limit, weight.shape)
        parameters[f"b{number}"] = np.zeros(layer.features_out)
    return parameters
