# SPDX-License-Identifier: BSD-2-Clause
"""How a network is trained."""

import math
from dataclasses import dataclass, replace
from typing import Self

from hypercast.errors import require
from hypercast.reference.adam import AdamRates
from hypercast.reference.arithmetic import Rates
from hypercast.reference.quantization import mantissa_and_shift
from hypercast.reference.rate_schedule import RateSchedule, check_schedule, rate_factor
from hypercast.reference.tensor import BACKWARD, FORWARD, Kind, Pass, Tensor
from hypercast.rtl.isa import FACTOR_ONE, MASTER_EXPONENT

__all__ = [
    "BINARY_CROSS_ENTROPY", "CROSS_ENTROPY", "DEFAULT_LEARNING_RATES", "LOSSES", "NORMALISATIONS",
    "OPTIMISERS", "Recipe",
]

#: How edge weights are made; ``Graph.normalise`` explains each.
NORMALISATIONS = ("symmetric", "mean", "given", "neighbours", "sum")
#: How weights follow their gradients; ``Recipe`` explains each.
OPTIMISERS = ("sgd", "adam")

#: Of the softmax of a vertex's logits; it has one class.
CROSS_ENTROPY = "cross_entropy"
#: Of the sigmoid of each logit, the mean over a vertex's labels; it may have any of them.
BINARY_CROSS_ENTROPY = "binary_cross_entropy"
LOSSES = (CROSS_ENTROPY, BINARY_CROSS_ENTROPY)
#: Of weights and biases, if none is given; SGD's has a factor for GIN, and one for several labels.
DEFAULT_LEARNING_RATES = {"sgd": 0.05, "adam": 0.01}

#: The chip counts steps with 32 bits.
_MOST_EPOCHS = (1 << 32) - 1
#: More is a slip.
_MOST_MICRO_BATCHES = 1 << 16
#: More is a slip: weights would be gone in a step.
_MOST_DECAY = FACTOR_ONE - 1


def _of_layer(values: tuple[float, ...], parameter: Tensor) -> float:
    """Entry of a parameter's layer (from 1); the last one holds for all beyond."""
    return values[min(parameter.layer, len(values)) - 1]


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
        Passes over all training vertices. Each is a step if the whole graph is the batch.
    learning_rates, bias_learning_rates, weight_decays : tuple of float
        Rates of weights and biases, decays of weights: one per layer; the last holds for all
        layers beyond. If not given, learning rates are ``DEFAULT_LEARNING_RATES``; with SGD, a
        sixteenth of that where the adjacency sums, 16 times that for several labels. Biases do not
        decay.
    schedule : tuple of (int, float)
        From epoch (ascending) on, the learning rates are multiplied by the factor; see
        ``reference.rate_schedule``. For devices, a recipe's schedule counts steps: an epoch is one
        if the whole graph is the batch; of samples, ``prepare_sampled`` turns epochs into steps.
    optimiser : str
        One of ``OPTIMISERS``.
    momentum : float
        SGD's momentum: at least 0 and below 1.
    betas : tuple of float
        Adam's ``beta1``, at least 0 and below 1, and ``beta2``, 0.5 to 0.9999.
    epsilon : float
        Adam's: at least 0; a value below a small fraction of the momenta's unit counts as that
        fraction.
    seed : int
        Seed of the initial weights and, modulo ``2**32``, of dropout.
    element_width : int
        Bits of a tensor element: 8 or 16.
    headroom : int, optional
        0 to 3 bits left free above the largest magnitude a tensor had in the step before. If not
        given, 1 with 16-bit elements, and 0 with 8-bit ones, which need their resolution more.
    feature_headroom : int, optional
        ``headroom`` of features (hidden ones, products and logits), -4 to 3. With -1, values above
        half of that magnitude saturate. If not given, it is ``headroom``; but -2 where 8-bit
        elements hold sums (normalisation "sum"), which a few vertices with many neighbours make
        large.
    gradient_headroom : int, optional
        ``headroom`` of gradients with respect to features, 0 to 3. If not given, it is
        ``headroom`` where that is given, or else 3 with 16-bit elements, which have bits to spare:
        gradients vary from step to step with the elements that dropout leaves out.
    normalisation : str
        One of ``NORMALISATIONS``.
    gin_epsilon : float
        GIN's, with normalisation "sum".
    normalise_features : bool
        Whether each vertex's features are divided by the sum of their magnitudes.
    loss : str
        One of ``LOSSES``, by the kind of labels: a class per vertex, or any of several.
    micro_batches : int
        Samples that a step adds up the gradients of, before its one update.

    Raises
    ------
    InputError
        If a field is out of range.
    """

    epochs: int = 200
    learning_rates: tuple[float, ...] | None = None
    bias_learning_rates: tuple[float, ...] | None = None
    weight_decays: tuple[float, ...] = (5e-3, 0.0)
    schedule: RateSchedule = ()
    optimiser: str = "sgd"
    momentum: float = 0.9
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    seed: int = 0
    element_width: int = 16
    headroom: int | None = None
    feature_headroom: int | None = None
    gradient_headroom: int | None = None
    normalisation: str = "symmetric"
    gin_epsilon: float = 0.0
    normalise_features: bool = False
    loss: str = CROSS_ENTROPY
    micro_batches: int = 1

    def __post_init__(self) -> None:
        require(1 <= self.epochs <= _MOST_EPOCHS,
                f"epochs must be 1 to {_MOST_EPOCHS}, not {self.epochs}")
        require(self.optimiser in OPTIMISERS,
                 f"optimiser must be one of {', '.join(OPTIMISERS)}, not {self.optimiser!r}")
        for name in ("learning_rates", "bias_learning_rates", "weight_decays"):
            values = getattr(self, name)
            require(values is None or (values and all(0 <= value < math.inf for value in values)),
                     f"{name} must be one or more finite numbers, none negative, not {values}")
        require(max(self.weight_decays) <= _MOST_DECAY,
                f"weight_decays must be at most {_MOST_DECAY}, not {self.weight_decays}")
        check_schedule(self.schedule)
        require(0 <= self.momentum < 1 and round(self.momentum * FACTOR_ONE) < FACTOR_ONE,
                 f"momentum must be at least 0 and below 1, not {self.momentum}")
        require(len(self.betas) == 2 and 0 <= self.betas[0] < 1
                 and round(self.betas[0] * FACTOR_ONE) < FACTOR_ONE
                 and 0.5 <= self.betas[1] <= 0.9999,
                 f"betas must be two numbers, the first at least 0 and below 1, the second 0.5 to "
                 f"0.9999, not {self.betas}")
        require(0 <= self.epsilon < math.inf,
                 f"epsilon must be finite and not negative, not {self.epsilon}")
        require(self.seed >= 0, f"seed must be at least 0, not {self.seed}")
        require(self.element_width in (8, 16),
                 f"element_width must be 8 or 16, not {self.element_width}")
        headroom, features, gradients = (
            self.headroom, self.feature_headroom, self.gradient_headroom)
        wide = self.element_width == 16
        if gradients is None:
            gradients = headroom if headroom is not None else 3 if wide else 0
            object.__setattr__(self, "gradient_headroom", gradients)
        if headroom is None:
            headroom = 1 if wide else 0
            object.__setattr__(self, "headroom", headroom)
        require(0 <= headroom <= 3, f"headroom must be 0 to 3, not {headroom}")
        require(0 <= gradients <= 3, f"gradient_headroom must be 0 to 3, not {gradients}")
        if features is None:
            spread = self.element_width == 8 and self.normalisation == "sum"
            features = -2 if spread else headroom
            object.__setattr__(self, "feature_headroom", features)
        require(-4 <= features <= 3, f"feature_headroom must be -4 to 3, not {features}")
        require(self.normalisation in NORMALISATIONS,
                 f"normalisation must be one of {', '.join(NORMALISATIONS)}, "
                 f"not {self.normalisation!r}")
        require(math.isfinite(self.gin_epsilon),
                 f"gin_epsilon must be finite, not {self.gin_epsilon}")
        require(1 <= self.micro_batches <= _MOST_MICRO_BATCHES,
                f"micro_batches must be 1 to {_MOST_MICRO_BATCHES}, not {self.micro_batches}")
        require(self.loss in LOSSES, f"loss must be one of {', '.join(LOSSES)}, not {self.loss!r}")

    @property
    def gradient_coarseness(self) -> int:
        """Bits of headroom that gradients of features have more than other tensors."""
        assert self.gradient_headroom is not None and self.headroom is not None
        return max(self.gradient_headroom - self.headroom, 0)

    def headroom_of(self, tensor: Tensor) -> int:
        """Bits left free above the last peak of a tensor; negative if it may saturate."""
        bits = self.feature_headroom if tensor.kind in FORWARD else \
            self.gradient_headroom if tensor.kind in BACKWARD else self.headroom
        assert bits is not None  # it was chosen when the recipe was made
        return bits

    def finest_headroom_of(self, tensor: Tensor) -> int:
        """The same if no training step follows an evaluation: none is left above features."""
        headroom = self.headroom_of(tensor)
        return min(headroom, 0) if tensor.during == Pass.EVALUATION else headroom

    @property
    def _default_learning_rate(self) -> float:
        """The default rate, by optimiser, normalisation and loss.

        Adam's steps are as long as their rate. SGD's steps are as long as gradients, too: gradients
        of GIN's sums are large, and gradients of a mean over many labels are small.
        """
        rates = DEFAULT_LEARNING_RATES
        if self.optimiser == "adam":
            return rates["adam"]
        return rates["sgd"] * (1 / 16 if self.normalisation == "sum" else 1) * (
            16 if self.loss == BINARY_CROSS_ENTROPY else 1)

    def explicit(self) -> Self:
        """This recipe, with all learning rates given."""
        default = (self._default_learning_rate,)
        return replace(self, learning_rates=self.learning_rates or default,
                       bias_learning_rates=self.bias_learning_rates or default)

    def learning_rate(self, parameter: Tensor, step: int) -> float:
        """Learning rate of a parameter (W1, b1, ...) in ``step`` (from 0), as ``schedule`` counts.

        The identity (I2, ...) does not change.
        """
        if parameter.kind == Kind.IDENTITY:
            return 0.0
        given = self.bias_learning_rates if parameter.kind == Kind.BIAS else self.learning_rates
        rates = given or (self._default_learning_rate,)
        return _of_layer(rates, parameter) * rate_factor(self.schedule, step)

    def rate_of_factor(self, factor: float) -> float:
        """What the learning rate of a parameter is multiplied by that is ``factor`` times weights,
        so that the weights have the learning rate itself.

        Their gradient is the parameter's, times the factor; so is the parameter's change. Adam
        divides by the gradient's size.
        """
        return factor if self.optimiser == "adam" else factor**2

    def weight_decay(self, parameter: Tensor) -> float:
        """Weight decay of a parameter."""
        fixed = parameter.kind in (Kind.BIAS, Kind.IDENTITY)
        return 0.0 if fixed else _of_layer(self.weight_decays, parameter)

    @property
    def kept_momentum(self) -> float:
        """Share of the momenta that each step keeps."""
        return self.betas[0] if self.optimiser == "adam" else self.momentum

    def rates(self, learning_rate: float, weight_decay: float, gain: float, momentum_exponent: int,
              step: int = 1, *, raised: bool = False) -> Rates | AdamRates:
        """Constants of an UPDATE.

        The chip's momenta are in units of ``2**momentum_exponent`` and take in the accumulated
        gradient itself, so SGD's ``v`` is larger than above by the factor ``1 / gain``.

        Parameters
        ----------
        learning_rate, weight_decay : float
            Rate and decay of the tensor in this step.
        gain : float
            The loss's gradient divided by the accumulated one.
        momentum_exponent : int
            Exponent of the momenta's units.
        step : int
            Number of the step, from 1: Adam corrects its moments by it.
        raised : bool
            Whether the momenta are still in units of half that.

        Returns
        -------
        Rates or AdamRates

        Raises
        ------
        InputError
            If a constant is too large for its field.
        """
        unit = 2.0 ** (MASTER_EXPONENT - momentum_exponent)
        if self.optimiser == "adam":
            return AdamRates.of_step(
                step, betas=self.betas, epsilon=self.epsilon, learning_rate=learning_rate,
                decay=weight_decay / gain * unit, unit=math.ldexp(gain, momentum_exponent),
                master_unit=2.0**MASTER_EXPONENT, raised=raised)
        decay, decay_shift = mantissa_and_shift(
            weight_decay / gain * unit, f"weight decay {weight_decay:.6g}")
        rate, rate_shift = mantissa_and_shift(
            learning_rate * gain / unit, f"learning rate {learning_rate:.6g}")
        return Rates(momentum=round(self.momentum * FACTOR_ONE) >> raised, decay=decay,
                     decay_shift=decay_shift, rate=rate, rate_shift=rate_shift)
