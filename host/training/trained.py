# SPDX-License-Identifier: BSD-2-Clause
"""Uses of a model that has been trained, or is in training."""

import abc
import contextlib
from dataclasses import replace
from os import PathLike

import numpy as np

from hypercast.errors import InputError
from hypercast.host.files.given_path import as_output_errors, given_path
from hypercast.host.graphs.graph_outline import GraphOutline
from hypercast.host.graphs.interchange.weights import save_weights
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schemes.sample_source import SampleSource
from hypercast.host.training.distributed_training import DistributedTraining
from hypercast.host.training.finest_exponents import finest_exponents
from hypercast.host.training.numbers import TensorNumbers
from hypercast.host.training.predictions import Predictions
from hypercast.host.training.scores import macro_f1, measures
from hypercast.host.training.training import Training
from hypercast.reference.array_types import FloatArray
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import Pass, Tensor
from hypercast.reference.training_state import TrainingState
from hypercast.rtl.isa import MASTER_EXPONENT

__all__ = ["Trained"]


class Trained(abc.ABC):
    """A model on the device that trains it: its parameters, metrics and predictions.

    Attributes
    ----------
    recipe : Recipe
        How it is trained.
    network : Network
        The network that is trained.
    outline : GraphOutline
        What is known of the graph without edges and features.
    samples : SampleSource or None
        What steps work on, if not on the whole graph.
    """

    recipe: Recipe
    network: Network
    outline: GraphOutline
    samples: SampleSource | None
    _training: Training | DistributedTraining

    @property
    @abc.abstractmethod
    def target(self) -> TrainingDevice:
        """The ``TrainingDevice``, open."""

    @property
    def widths(self) -> list[int]:
        """Features of the input and of the output of every layer."""
        return [self.network.features, *(layer.features_out for layer in self.network.layers)]

    def parameters(self) -> dict[Tensor, FloatArray]:
        """Weights and biases as float64 arrays by name (W1, b1, W2, ...)."""
        return {name: np.ldexp(arrays["master"].astype(np.float64), MASTER_EXPONENT)
                for name, arrays in self.target.state().parameters.items()}

    def evaluate(self) -> dict[str, float | None]:
        """Loss and accuracy of each split by name, as in a record.

        With several labels per vertex, micro and macro F1 instead of accuracy. If elements
        saturate, a ``SaturationWarning`` says so, here, in ``predict`` and in ``save_weights``.
        """
        several = self.outline.multi_label
        self._training.warn_of_saturation(self.target.state)
        found = measures(self.target.evaluate(), several)
        return found | (macro_f1(self._predictions().classes, self.outline) if several else {})

    def save_weights(self, path: str | PathLike[str]) -> None:
        """Write the weights, by the names of PyTorch Geometric's models.

        Parameters
        ----------
        path : pathlib.Path or str
            A ``.safetensors`` file, or a ``.pt`` file, a state dictionary (needs PyTorch).

        Raises
        ------
        InputError
            If it is no path, or nothing can be written there.
        WeightsError
            If its name ends in neither, or PyTorch is needed and missing.
        """
        file = given_path(path, "path")
        self._training.warn_of_saturation(self.target.state)
        with as_output_errors(file):
            save_weights(file, self.network, self.parameters(), self.recipe.gin_epsilon)

    def predict(self) -> Predictions:
        """The ``Predictions`` for all vertices, in the graph's order.

        On the whole graph, the evaluations of records leave headroom for a training step, and this
        one leaves none. So logits are nearer to float64, and a vertex whose best classes are next
        to equal can have another class than ``evaluate`` has counted. On samples, no evaluation
        leaves headroom. The training goes on as if nothing had been predicted.
        """
        if self.samples:  # whose evaluations choose exponents for themselves
            self.target.evaluate()
            return self._predictions()
        state = self.target.state()
        try:
            finest = self._evaluate_finely(state)
            self._training.warn_of_saturation(lambda: finest)
            predictions = self._predictions()
        except BaseException:
            with contextlib.suppress(Exception):  # what has failed may do nothing any more
                self.target.load_state(state)
            raise
        self.target.load_state(state)
        return predictions

    def _evaluate_finely(self, state: TrainingState) -> TrainingState:
        """Evaluate a state until features have their smallest exponents; returns it with these.

        Where one of them was too small, or what it was computed from, its peak is larger the next
        time.
        """
        peaks: dict[Tensor, int] = {}
        while True:
            self.target.evaluate()
            entries = self.target.state().exponents
            found = {name: peak for name, (_, peak) in entries.items()
                     if name.during == Pass.EVALUATION and peak is not None}
            if all(name in peaks and peak <= peaks[name] for name, peak in found.items()):
                return state
            peaks |= {name: max(peak, peaks.get(name, peak)) for name, peak in found.items()}
            state = replace(state, exponents=finest_exponents(
                self.network, self.recipe, entries, peaks))
            self.target.load_state(state)

    def _predictions(self) -> Predictions:
        mantissas, exponent = self.target.logits()
        logits = np.empty(mantissas.shape)
        logits[self._training.order] = np.ldexp(mantissas.astype(np.float64), exponent)
        return Predictions.of_logits(logits, several=self.outline.multi_label)

    def numbers(self) -> list[TensorNumbers]:
        """``TensorNumbers`` of all tensors in the training step that would come next.

        It is tried on the reference; the training goes on as if it had not been.

        Raises
        ------
        InputError
            If the training is on samples.
        """
        if self.samples:
            raise InputError("numbers are those of a step on the whole graph; this training is on "
                             "samples")
        return self._training.numbers(self.target.state())
