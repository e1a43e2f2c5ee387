"""Training a graph neural network exactly as the chip does, tensor by tensor.

Every product is an exact integer, every rounding is one of ``arithmetic``'s. The chip works on
the same tensors panel by panel and core by core; that changes none of their bits.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from hypercast.reference.adam import AdamRates, AdamResult, adam_update
from hypercast.reference.arithmetic import (
    LOSS_EXPONENT,
    LossRow,
    Rates,
    UpdateResult,
    align,
    bit_length,
    requantize,
    sigmoid_gradient,
    softmax_gradient,
    update,
)
from hypercast.reference.array_types import BoolArray, FloatMatrix, IntArray, SparseArray
from hypercast.reference.bounds import check_accumulators
from hypercast.reference.fixed_layers import FixedLayers, Gradient
from hypercast.reference.fixed_tensors import FixedTensors
from hypercast.reference.masters import master_weights
from hypercast.reference.metrics import LOSS_UNIT, Metrics
from hypercast.reference.momentum_exponents import MomentumExponents
from hypercast.reference.network import AGGREGATE_FIRST, Network, initial_parameters
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, Recipe
from hypercast.reference.require import require
from hypercast.reference.sample import Mantissas, Sample
from hypercast.reference.tensor import EDGES, FEATURES, ONE, Kind, Pass, Tensor
from hypercast.reference.training_state import TrainingState
from hypercast.rtl.isa import MASTER_EXPONENT, STEP_KEY_INCREMENT, Split

__all__ = ["FixedGnn"]


def _initial_masters(network: Network, seed: int,
                     parameters: Mapping[Tensor, npt.ArrayLike] | None) -> dict[Tensor, IntArray]:
    """Master weights by name, as the network has them."""
    initial = initial_parameters(network, seed)
    parameters = parameters or initial
    require(parameters.keys() == initial.keys(),
            f"initial values are of {', '.join(parameters)}, but the network has "
            f"{', '.join(initial)}; give one array for each")
    masters = {name: master_weights(parameters[name], name) for name in initial}
    for name, values in masters.items():
        require(values.shape == initial[name].shape, f"{name} has shape {values.shape}, but the "
                f"network's is {initial[name].shape}; give that")
    return masters


class FixedGnn:
    """A network in training, bit for bit as on the chip.

    Row ``k`` of every matrix is the vertex of rank ``k``.

    Parameters
    ----------
    network : Network
        What is trained.
    recipe : Recipe
        How it is trained.
    *data
        What it is trained on: a ``Sample``, or adjacency, features, labels, splits and maybe loss
        weights as ``Sample.of`` takes them.
    parameters : dict, optional
        Initial values by name, instead of ``initial_parameters``.

    Attributes
    ----------
    tensors : dict
        Mantissas by name, as last computed: A (edge weights, of layer 1), X (features); of layer
        2, say, W2
        and b2 (operands), T2 (features times weights) or M2 (aggregated features), H2 (hidden
        features, the dropped ones zero), Z2 (logits, of the last layer); gradients dT2 or dM2 and
        dZ2 (with respect to the sums before ReLU). A layer with a root also has the operand R2 or
        I2, the product S2 that is added to what is aggregated, and dS2, added to aggregated dM2.
        With jumping knowledge, dC2 is the gradient of H2 that comes from the last layer. Those of
        ``evaluate`` end in ``.eval``.
    exponents : ExponentFile
        Their exponents (``slots``); besides, "one" for the ones that sum a bias gradient.
    sample : Sample
        What is trained on now.
    labels, splits, loss_weights
        Those of the sample.
    masters, momenta : dict
        int32 values of each parameter, by name.
    second_moments : dict
        Adam's second moments as they are stored (``adam.pack_second_moment``), by name; else empty.
    momentum_exponents : MomentumExponents
        Exponents of each parameter's momenta.
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
        If network, data and initial values do not fit each other, a value is out of range, or an
        accumulator might overflow.
    """

    @overload
    def __init__(self, network: Network, recipe: Recipe, sample: Sample, /, *,
                 parameters: Mapping[Tensor, npt.ArrayLike] | None = None) -> None: ...
    @overload
    def __init__(self, network: Network, recipe: Recipe,
                 adjacency: SparseArray | Sequence[SparseArray], features: FloatMatrix | Mantissas,
                 labels: npt.ArrayLike, splits: npt.ArrayLike,
                 loss_weights: npt.ArrayLike | None = None, /, *,
                 parameters: Mapping[Tensor, npt.ArrayLike] | None = None) -> None: ...
    def __init__(self, network: Network, recipe: Recipe, *data: Any,
                 parameters: Mapping[Tensor, npt.ArrayLike] | None = None) -> None:
        self.network = network
        self.recipe = recipe
        self._several = recipe.loss == BINARY_CROSS_ENTROPY
        self._width = recipe.element_width
        self._file = FixedTensors(self._width, recipe.headroom_of, network.slot)
        self.tensors, self.exponents = self._file.mantissas, self._file.exponents
        self.saturations = self._file.saturations
        self._layers = FixedLayers(network, self._file)
        self.sample: Sample = data[0] if len(data) == 1 else Sample.of(network, recipe, *data)
        self.take(self.sample)
        self.exponents[ONE] = 0
        self.masters = _initial_masters(network, recipe.seed, parameters)
        self.momenta = {name: np.zeros_like(master) for name, master in self.masters.items()}
        self.second_moments = {
            name: np.zeros_like(master) for name, master in self.masters.items()
            if recipe.optimiser == "adam"}
        self.gains = self._gains()
        self.momentum_exponents = MomentumExponents()
        self.gradients: dict[Tensor, Gradient[np.int64]] = {}
        self.masks: dict[Tensor, BoolArray] = {}
        self.epoch = 0
        self.step_key = recipe.seed & 0xFFFFFFFF
        self._calibrate()

    def take(self, sample: Sample) -> None:
        """Go on with another ``Sample``, of the same graph.

        The loss is still divided by the number of training vertices that the first one had.

        Raises
        ------
        ValueError
            If an accumulator might overflow, or loss weights have another unit.
        """
        if sample.loss_unit != self.sample.loss_unit:
            raise ValueError(f"loss weights of this sample have the unit {sample.loss_unit}, those "
                             f"before {self.sample.loss_unit}; make all samples with one unit")
        for edges in {id(edges): edges for edges in sample.edges}.values():
            check_accumulators(self.network, edges, sample.features.values, self._width,
                               sample.root_weight)
        self.sample = sample
        self.labels, self.splits = sample.labels, sample.splits
        self.loss_weights = sample.loss_weights
        self.tensors[EDGES], self.exponents[EDGES] = sample.edges[0], sample.edge_exponent
        self.tensors[FEATURES], self.exponents[FEATURES] = sample.features
        self._layers.take(sample)

    @property
    def _loss_scale(self) -> float:
        """Loss of one unit of weight, divided by the numbers of labels."""
        return self.sample.loss_unit / (self.network.classes if self._several else 1)

    @property
    def loss_unit(self) -> float:
        """Nats of a unit of the metrics' losses."""
        return LOSS_UNIT * self._loss_scale

    def _gains(self) -> dict[Tensor, float]:
        """The chip does not divide by the numbers of training vertices and of labels, and takes
        weight gradients from inputs that are dropped but not scaled, unless a layer aggregates
        first.
        """
        count = int(np.count_nonzero(self.splits == Split.TRAIN)) / self._loss_scale
        gains = {}
        for number, layer in enumerate(self.network.layers, 1):
            scale = self.network.dropouts[number - 1].scale
            for weight in self.network.weights(number):
                gains[weight.name] = (1.0 if layer.order == AGGREGATE_FIRST else scale) / count
            gains[Tensor(Kind.BIAS, number)] = 1.0 / count
        return gains

    # Exponents of the first step.

    def _calibrate(self) -> None:
        """Choose all exponents for the first step, from a trial of it that leaves no other trace.

        A parameter's exponent has room for its values before and after that step.
        """
        self._set_operands(self.masters)
        self._file.calibrated(self._trial)
        updated: dict[Tensor, IntArray] = {}
        for name, gradient in self.gradients.items():
            # Where gradients are all zero, decay's constant must still fit its 16 bits.
            decay = self.recipe.weight_decay(name) / self.gains[name]
            self.momentum_exponents.choose(
                name, gradient, kept=self.recipe.kept_momentum,
                least=MASTER_EXPONENT + math.frexp(decay)[1] - 16)
            updated[name] = self._updated(name, operand_shift=0).master
        self._set_operands(self.masters, updated)
        self.saturations.clear()
        for epoch in (start for start, _ in self.recipe.schedule if start < self.recipe.epochs):
            for name in self.gradients:
                self.rates(name, epoch)  # refused now rather than then

    def _trial(self) -> None:
        self._forward(training=False)
        self._backward(self._forward(training=True))

    def _set_operands(self, *values: Mapping[Tensor, IntArray]) -> None:
        """Round all parameters, with exponents that have room for dictionaries of values."""
        bits: dict[Tensor, int] = {}
        for name in self.masters:
            entry = self.network.slot(name)
            bits[entry] = max(bits.get(entry, 0), *(bit_length(each[name]) for each in values))
        for name, master in self.masters.items():
            self.exponents.calibrate(name, MASTER_EXPONENT, bits[self.network.slot(name)])
            shift = self.exponents.shift(name, MASTER_EXPONENT)
            self.tensors[name], _ = requantize(master, shift, self._width)

    # A step.

    def train_step(self) -> Metrics:
        """Forward, backward, update: one epoch.

        Returns
        -------
        Metrics
            Metrics of the forward pass, which had dropout and the parameters before the update.

        Raises
        ------
        ExponentError, AlignmentError
            Where the chip would stop.
        """
        self.follow_gradients()
        rows = self._forward(training=True)
        self._backward(rows)
        for name in self.gradients:
            self._update(name)
        self.epoch += 1
        self.step_key = (self.step_key + STEP_KEY_INCREMENT) & 0xFFFFFFFF
        return self._metrics(rows)

    def follow_gradients(self) -> None:
        """Raise exponents of momenta whose gradients have grown: the first act of a step."""
        self.momentum_exponents.follow(self._file.base)

    def evaluate(self) -> Metrics:
        """Forward only, without dropout; training goes on as if it had not been.

        Exponents follow the peaks of the last training step's tensors.

        Returns
        -------
        Metrics
            Metrics of the present parameters.

        Raises
        ------
        ExponentError, AlignmentError
            Where the chip would stop.
        """
        return self._metrics(self._forward(training=False))

    def kept(self) -> dict[str, dict[Tensor, IntArray]]:
        """What the optimiser keeps: for each kind, in the order in which the chip stores them, the
        arrays by parameter."""
        return {"master": self.masters, "momentum": self.momenta} | (
            {"second_moment": self.second_moments} if self.second_moments else {})

    def optimiser(self, name: Tensor) -> dict[str, IntArray]:
        """What the optimiser keeps of a parameter: arrays by kind, in the order of ``kept``."""
        return {kind: arrays[name] for kind, arrays in self.kept().items()}

    def state(self) -> TrainingState:
        """The ``TrainingState`` now."""
        return TrainingState(
            step=self.epoch, exponents=self.exponents.entries(),
            parameters={name: self.optimiser(name) for name in self.masters},
            momentum_exponents=self.momentum_exponents.entries())

    def load_state(self, state: TrainingState) -> None:
        """Go on from the ``TrainingState`` of a model with the same graph, network and recipe."""
        for kind, arrays in self.kept().items():
            for name in arrays:
                arrays[name] = state.parameters[name][kind]
        self.exponents.load(state.exponents)
        self.momentum_exponents.load(state.momentum_exponents)
        for name in self.masters:
            self.tensors[name] = self.operand(name, state)
        self.epoch = state.step
        self.step_key = (self.recipe.seed + state.step * STEP_KEY_INCREMENT) & 0xFFFFFFFF

    def operand(self, name: Tensor, state: TrainingState) -> IntArray:
        """Mantissas of parameter ``name`` in a ``TrainingState``."""
        exponent, _ = state.exponents[self.network.slot(name)]
        shift = min(exponent - MASTER_EXPONENT, 63)
        return requantize(state.parameters[name]["master"], shift, self._width)[0]

    def judge(self, masters: Mapping[Tensor, IntArray]) -> Metrics:
        """Evaluate other parameters, with exponents chosen from the pass itself.

        The model is for nothing else then: its training does not go on from here.

        Parameters
        ----------
        masters : dict
            By parameter name.

        Returns
        -------
        Metrics
            Metrics of a pass without dropout.
        """
        self.masters = dict(masters)
        self._set_operands(self.masters)
        return self._metrics(self._file.calibrated(lambda: self._forward(training=False)))

    def rates(self, name: Tensor, epoch: int) -> Rates | AdamRates:
        """Constants with which parameter ``name`` is updated in ``epoch`` (from 0), the next."""
        return self.recipe.rates(self.recipe.learning_rate(name, epoch),
                                 self.recipe.weight_decay(name), self.gains[name],
                                 self.momentum_exponents[name], epoch + 1,
                                 raised=name in self.momentum_exponents.raised)

    def _metrics(self, rows: LossRow) -> Metrics:
        return Metrics.of_vertices(
            self.splits, rows.loss, rows.predicted, self.labels, self.loss_unit)

    def _forward(self, training: bool) -> LossRow:
        """All layers and the loss; returns its ``LossRow``."""
        layers = self.network.layers
        self._file.begin()
        during = Pass.TRAINING if training else Pass.EVALUATION
        for number in range(1, len(layers) + 1):
            base, sums = self._layers.forward(number, self.step_key if training else None)
            bias = Tensor(Kind.BIAS, number)
            sums += align(self.tensors[bias], self.exponents.bias_shift(bias, base))
            hidden = number < len(layers)
            source = Tensor(Kind.HIDDEN if hidden else Kind.LOGITS, number, during)
            if hidden:
                mask = sums > 0
                if training:
                    mask = self.network.dropouts[number].apply(mask, self.step_key)
                    self.masks[source] = mask
                sums *= mask
            self._file.store(source, sums, base)
        loss = sigmoid_gradient if self._several else softmax_gradient
        return loss(self.tensors[source], self.labels, self.exponents.loss_shift(source),
                    self.loss_weights)

    def _backward(self, rows: LossRow) -> None:
        """All gradients, from the ``LossRow`` of the logits."""
        layers = len(self.network.layers)
        train = self.splits == Split.TRAIN
        self._file.store(
            Tensor(Kind.GRADIENT, layers), rows.gradient * train[:, None], LOSS_EXPONENT)
        for number in range(layers, 0, -1):
            self.gradients |= self._layers.parameter_gradients(number)
            if number > 1:
                base, sums = self._layers.input_gradient(number)
                mask = self.masks[Tensor(Kind.HIDDEN, number - 1)]
                self._file.store(Tensor(Kind.GRADIENT, number - 1), sums * mask, base,
                                 self.network.dropouts[number - 1])

    def _update(self, name: Tensor) -> None:
        if self._file.opens(name):
            self.exponents.open(name, MASTER_EXPONENT)
        result = self._updated(name, self.exponents.shift(name, MASTER_EXPONENT))
        self.exponents.fold(name, MASTER_EXPONENT, result.magnitude.bit_length())
        self.masters[name], self.momenta[name] = result.master, result.momentum
        if isinstance(result, AdamResult):
            self.second_moments[name] = result.second_moment
        self.tensors[name] = result.operand
        self.saturations[name] += result.saturations

    def _updated(self, name: Tensor, operand_shift: int) -> UpdateResult | AdamResult:
        """The ``UpdateResult`` or ``AdamResult`` of a parameter; changes nothing."""
        gradient, momentum_exponent = self.gradients[name], self.momentum_exponents[name]
        shift = self.exponents.gradient_shift(name, momentum_exponent, gradient.exponent)
        values = gradient.accumulators, self.masters[name], self.momenta[name]
        rates = self.rates(name, self.epoch)
        if isinstance(rates, AdamRates):
            return adam_update(*values, self.second_moments[name], rates, shift, operand_shift,
                               self._width)
        return update(*values, rates, shift, operand_shift, self._width)
