# SPDX-License-Identifier: BSD-2-Clause
"""The oracle: training a graph neural network exactly as the chip does, tensor by tensor."""

from collections.abc import Mapping, Sequence
from typing import Any, Self, overload

import numpy.typing as npt

from hypercast.reference.array_types import FloatMatrix, IntArray, SparseArray
from hypercast.reference.fixed_passes import FixedPasses
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Mantissas, Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import EDGES, FEATURES, Tensor
from hypercast.reference.training_state import TrainingState
from hypercast.reference.updates import update_rows
from hypercast.reference.weight_operands import weight_operands
from hypercast.rtl.isa import MASTER_EXPONENT

__all__ = ["FixedGnn"]


class FixedGnn(FixedPasses):
    """A network in training, bit for bit as on the chip.

    Attributes of ``FixedPasses`` are of the last step.

    Parameters
    ----------
    model : InitialModel
        The model that is trained; it does not change.

    Attributes
    ----------
    rules : UpdateRules
        The rules of this training.
    kept : dict
        For each parameter, the arrays that the optimiser keeps of it, by kind, as in a
        ``TrainingState``.
    step : int
        Training steps done.
    step_key : int
        32 bits, added to dropout's keys in the next step.
    """

    def __init__(self, model: InitialModel) -> None:
        super().__init__(model.network, model.recipe, model.sample)
        self.rules = model.rules()
        self._begun: dict[Tensor, tuple[int, int | None]] = {}
        self.kept: dict[Tensor, dict[str, IntArray]] = model.state.parameters
        self.load_state(model.state)

    @overload
    @classmethod
    def of(cls, network: Network, recipe: Recipe, sample: Sample, /, *,
           parameters: Mapping[Tensor, npt.ArrayLike] | None = None) -> Self: ...
    @overload
    @classmethod
    def of(cls, network: Network, recipe: Recipe,
           adjacency: SparseArray | Sequence[SparseArray], features: FloatMatrix | Mantissas,
           labels: npt.ArrayLike, splits: npt.ArrayLike,
           loss_weights: npt.ArrayLike | None = None, /, *,
           parameters: Mapping[Tensor, npt.ArrayLike] | None = None) -> Self: ...
    @classmethod
    def of(cls, *arguments: Any, **options: Any) -> Self:
        """The oracle of ``InitialModel.of``, which takes the same."""
        return cls(InitialModel.of(*arguments, **options))

    def train_step(self) -> Metrics:
        """Forward, backward, update: a step on the present sample.

        Returns
        -------
        Metrics
            Metrics of the forward pass, which had dropout and the parameters before the update.

        Raises
        ------
        ExponentError, AlignmentError
            Where the chip would stop.
        """
        self.begin_step()
        sums = self.step_sums()
        self.update(sums)
        return sums.metrics

    # A step in pieces: it begins, some samples are taken one after another, it ends.

    def begin_step(self) -> None:
        """Begin a step: raise exponents of momenta, and exponents that are foreseen."""
        self.rules.begin_step(self.step, self.exponents.entries())
        for name, exponent in self.rules.raised.items():
            self.exponents[name] = exponent
        self._begun = self.exponents.entries()

    def step_sums(self) -> StepSums:
        """Forward and backward, of the present sample, from where the step began.

        Raises
        ------
        ExponentError, AlignmentError
            Where the chip would stop.
        """
        self.exponents.load(self._begun)
        self.exponents[EDGES] = self.sample.edge_exponent
        self.exponents[FEATURES] = self.sample.features.exponent
        before = self.saturations.total()
        rows = self.forward(self.step_key)
        self.backward(rows)
        return StepSums(
            gradients={name: gradient.accumulators for name, gradient in self.gradients.items()},
            entries=self.exponents.entries(), metrics=self.metrics(rows),
            saturations=self.saturations.total() - before)

    def update(self, sums: StepSums) -> None:
        """End a step: update all parameters, by the sums over all its samples.

        Raises
        ------
        AccumulatorError
            If a sum does not fit an accumulator.
        """
        sums.check(self.exponents.accumulator_width)
        self.exponents.load(sums.entries)
        self._file.begin()
        for name, gradient in sums.gradients.items():
            self._update(name, gradient)
        self.sample.rows_here.end_step()
        self.step += 1

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
        return self.metrics(self.forward())

    @property
    def step_key(self) -> int:
        return self.rules.step_key(self.step)

    @property
    def masters(self) -> dict[Tensor, IntArray]:
        """Master weights by parameter."""
        return {name: arrays["master"] for name, arrays in self.kept.items()}

    def state(self) -> TrainingState:
        """The ``TrainingState`` now."""
        return TrainingState(
            step=self.step, exponents=self.exponents.entries(),
            parameters={name: dict(arrays) for name, arrays in self.kept.items()},
            momentum_exponents=self.rules.momentum_exponents.entries(),
            older=self.sample.rows_here.kept)

    def load_state(self, state: TrainingState) -> None:
        """Go on from the ``TrainingState`` of a model with the same graph, network and recipe."""
        # In its own order, whatever the state's.
        self.kept = {name: {kind: state.parameters[name][kind] for kind in arrays}
                     for name, arrays in self.kept.items()}
        self.exponents.load(state.exponents)
        self.rules.momentum_exponents.load(state.momentum_exponents)
        self.tensors.update(weight_operands(self.network, self._width, state))
        self.step = state.step
        self.sample.rows_here.keep(state.older)

    def _update(self, name: Tensor, gradient: IntArray) -> None:
        exponents = self.exponents
        if self._file.opens(name):
            exponents.open(name, MASTER_EXPONENT)
        shift = exponents.gradient_shift(
            name, self.rules.momentum_exponents[name],
            self._file.base(*self._graph.gradients[name].factors))
        result = update_rows(
            self.kept[name], gradient, self.rules.rates(name, self.step), shift,
            exponents.shift(name, MASTER_EXPONENT), self._width)
        exponents.fold(name, MASTER_EXPONENT, result.magnitude.bit_length())
        self.kept[name] = {kind: getattr(result, kind) for kind in self.kept[name]}
        self.tensors[name] = result.operand
        self.saturations[name] += result.saturations
