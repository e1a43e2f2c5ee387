# SPDX-License-Identifier: BSD-2-Clause
"""The forward and the backward pass of a network in integers, tensor by tensor.

Every product is an exact integer, every rounding is one of ``arithmetic``'s. The chip works on
the same tensors panel by panel and core by core; that changes none of their bits.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from hypercast.errors import InputError
from hypercast.reference.arithmetic import (
    LossRow,
    bit_length,
    requantize,
    sigmoid_gradient,
    softmax_gradient,
)
from hypercast.reference.array_types import IntArray
from hypercast.reference.bounds import check_accumulators
from hypercast.reference.fixed_layers import FixedLayers, Gradient
from hypercast.reference.fixed_tensors import FixedTensors
from hypercast.reference.metrics import LOSS_UNIT, Metrics
from hypercast.reference.network import Network
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, Recipe
from hypercast.reference.row_blocks import row_blocks
from hypercast.reference.sample import Sample
from hypercast.reference.step_graph import step_graph
from hypercast.reference.tensor import EDGES, FEATURES, ONE, Kind, Pass, Tensor
from hypercast.rtl.isa import LOSS_EXPONENT, MASTER_EXPONENT, Split

__all__ = ["FixedPasses"]

Result = TypeVar("Result")


class FixedPasses:
    """Computes the tensors of a step, but for the parameters.

    Row ``k`` of every matrix is the vertex of rank ``k``, or a vertex that the sample's
    ``rows_here`` names.

    Parameters
    ----------
    network : Network
        The network that is computed.
    recipe : Recipe
        Gives the bits of a mantissa, headroom, and the loss.
    sample : Sample
        The sample that it is computed for.
    trained : bool
        Whether there is a backward pass, too. If not, no headroom is left above features.

    Attributes
    ----------
    tensors : MantissaFile
        Mantissas by name, as last computed: A (edge weights, of layer 1), X (features); of layer 2,
        say, W2 and b2 (operands), T2 (features times weights) or M2 (aggregated features), H2
        (hidden features, the dropped ones zero), Z2 (logits, of the last layer); gradients dT2 or
        dM2 and dZ2 (with respect to the sums before ReLU). A layer with a root also has the operand
        R2 or I2, the product S2 that is added to the aggregated features, and dS2, added to
        aggregated dM2. With jumping knowledge, dC2 is the gradient of H2 that comes from the last
        layer. With branches, or an initial residual, dU4 is the gradient of the features that layer
        4 reads, or adds, as far as it comes from layers 4 and up. Names of an evaluation's tensors
        end in ``.eval``.
    exponents : ExponentFile
        Exponents of the tensors, by ``exponent_entries``. Entry "one" is for the vector of ones
        that sums a bias gradient.
    saturations : collections.Counter
        Elements that saturated so far, by tensor.
    sample : Sample
        The current sample.
    gradients : dict
        ``Gradient`` of each parameter in the last backward pass.
    masks : dict
        Where hidden features were positive and kept, by the mask's name.
    observer : callable
        Called with a layer's number, and ``forward``, before its pass in training is computed.

    Raises
    ------
    InputError
        If an accumulator might overflow.
    """

    observer: Callable[..., None] | None = None

    def __init__(self, network: Network, recipe: Recipe, sample: Sample, *,
                 trained: bool = True) -> None:
        self._trained = trained
        self.network = network
        self.recipe = recipe
        self._width = recipe.element_width
        headroom = recipe.headroom_of if trained else recipe.finest_headroom_of
        self._file = FixedTensors(self._width, headroom, network.exponent_entry,
                                  restarts=not trained)
        self.tensors, self.exponents = self._file.mantissas, self._file.exponents
        self.saturations = self._file.saturations
        self._graph = step_graph(network)
        self._layers: FixedLayers[np.int64] = FixedLayers(self._file)
        self.masks = self._layers.masks
        self.sample = sample
        self.take(sample)
        self.exponents[ONE] = 0
        self.gradients: dict[Tensor, Gradient[np.int64]] = {}

    def take(self, sample: Sample) -> None:
        """Go on with another ``Sample``, of the same graph.

        The loss is still divided by the number of training vertices that the first one had.

        Raises
        ------
        InputError
            If an accumulator might overflow, or loss weights have another unit.
        """
        if sample.loss_unit != self.sample.loss_unit:
            raise InputError(f"loss weights of this sample have the unit {sample.loss_unit}, those "
                             f"before {self.sample.loss_unit}; make all samples with one unit")
        check_accumulators(self.network, sample.edges, sample.features.values, self._width,
                           sample.root_weight, trained=self._trained)
        self.sample = sample
        self.tensors[EDGES], self.exponents[EDGES] = sample.edges[0], sample.edge_exponent
        self.tensors[FEATURES], self.exponents[FEATURES] = (
            sample.features.values, sample.features.exponent)
        self._layers.take(sample, sample.rows_here)

    def round_weights(self, masters: Mapping[Tensor, IntArray],
                      *others: Mapping[Tensor, IntArray]) -> None:
        """Round master weights, with exponents that leave enough bits for the ``others``, too."""
        bits: dict[Tensor, int] = {}
        for name in masters:
            entry = self.network.exponent_entry(name)
            bits[entry] = max(bits.get(entry, 0), *(
                bit_length(each[name]) for each in (masters, *others)))
        for name, master in masters.items():
            self.exponents.calibrate(name, MASTER_EXPONENT, bits[self.network.exponent_entry(name)])
            shift = self.exponents.shift(name, MASTER_EXPONENT)
            self.tensors[name], _ = requantize(master, shift, self._width)

    def calibrate_during(self, program: Callable[[], Result]) -> Result:
        """Run ``program`` with exponents that are chosen from the tensors themselves."""
        return self._file.calibrate_during(program)

    def forward(self, step_key: int | None = None) -> LossRow:
        """All layers and the loss.

        Parameters
        ----------
        step_key : int, optional
            Step key of a training step; without it, it is an evaluation, without dropout.
        """
        self._file.begin()
        for number in range(1, len(self.network.layers) + 1):
            self.forward_layer(number, step_key)
        return self.loss(Pass.EVALUATION if step_key is None else Pass.TRAINING)

    def begin(self) -> None:
        """Begin passes that go layer by layer: each entry is opened by its first stored tensor."""
        self._file.begin()

    def take_opened(self, exponents: Mapping[Tensor, int]) -> None:
        """Go on with entries that other layers' tensors have opened elsewhere.

        Tensors that are stored here are other parts of them, so they are not opened again.

        Parameters
        ----------
        exponents : dict
            Entry to its exponent; the same as here if it has been opened here, too.
        """
        for entry, exponent in exponents.items():
            if self._file.opens(entry):
                self.exponents[entry] = exponent

    def forward_layer(self, number: int, step_key: int | None = None) -> None:
        """Compute a layer, from its input to its stored output; arguments as above."""
        during = Pass.EVALUATION if step_key is None else Pass.TRAINING
        if self.observer and step_key is not None:
            self.observer(number, forward=True)
        self._layers.run(self._graph.forward_of(number, during), step_key)

    def loss(self, during: Pass) -> LossRow:
        """The ``LossRow`` of a pass's logits."""
        source = Tensor(Kind.LOGITS, len(self.network.layers), during)
        several = self.recipe.loss == BINARY_CROSS_ENTROPY
        loss = sigmoid_gradient if several else softmax_gradient
        sample, logits = self.sample, self.tensors[source]
        shift = self.exponents.loss_shift(source)
        blocks = [loss(logits[some], sample.labels[some], shift, sample.loss_weights[some])
                  for some in row_blocks(logits.shape)]
        return LossRow(*map(np.concatenate, zip(*blocks, strict=True)))

    def backward(self, rows: LossRow) -> None:
        """All gradients, from the ``LossRow`` of a training step's logits."""
        self.store_loss(rows)
        for number in range(len(self.network.layers), 0, -1):
            self.backward_layer(number)

    def store_loss(self, rows: LossRow) -> None:
        """The gradient of the logits."""
        train = self.sample.splits == Split.TRAIN
        self._file.store(Tensor(Kind.GRADIENT, len(self.network.layers)),
                         rows.gradient * train[:, None], LOSS_EXPONENT)

    def backward_layer(self, number: int) -> None:
        """Gradients of a layer's parameters, and of its input, but for the input features."""
        if self.observer:
            self.observer(number, forward=False)
        self._layers.run(self._graph.backward_of(number))
        self.gradients |= {gradient.parameter: self._layers.gradient(gradient)
                           for gradient in self._graph.gradients_of(number)}

    @property
    def opened(self) -> dict[Tensor, tuple[int, int | None]]:
        """Exponent and peak of every entry that these passes opened."""
        entries = self.exponents.entries()
        return {name: entries[name] for name in self._file.opened}

    def metrics(self, rows: LossRow) -> Metrics:
        """``Metrics`` of a forward pass."""
        return Metrics.of_vertices(self.sample.splits, rows.loss, rows.predicted,
                                   self.sample.labels, LOSS_UNIT * self.sample.loss_scale)
