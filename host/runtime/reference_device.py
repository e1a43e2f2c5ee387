# SPDX-License-Identifier: BSD-2-Clause
"""The fixed-point reference as a device that trains."""

from collections.abc import Mapping

import numpy as np

from hypercast.errors import InputError
from hypercast.host.runtime.training_device import (
    TrainingDevice,
    exponents_of_training,
    logits_tensor,
)
from hypercast.reference.array_types import IntArray
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import EDGES, FEATURES, Pass, Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["ReferenceDevice"]


class ReferenceDevice(TrainingDevice):
    """The fixed-point reference.

    Parameters
    ----------
    model : InitialModel
        What is trained.
    oracle : FixedGnn, optional
        Trains it; one is made if it is not given.

    Attributes
    ----------
    oracle : FixedGnn
        Trains it.
    """

    def __init__(self, model: InitialModel, oracle: FixedGnn | None = None) -> None:
        self.oracle = oracle or FixedGnn(model)
        self.saturations = 0

    def train_step(self, *, record: bool = False) -> Metrics:
        if record:
            raise InputError("the reference has no timeline to record; train on a simulated chip")
        before = self.oracle.saturations.total()
        metrics = self.oracle.train_step()
        self.saturations = self.oracle.saturations.total() - before
        return metrics

    def begin_step(self) -> None:
        """Begin a step on several samples: for each, ``take`` and ``step_sums``; then ``update``.
        """
        self.oracle.begin_step()

    def step_sums(self) -> StepSums:
        """The ``StepSums`` of the present sample."""
        return self.oracle.step_sums()

    def update(self, sums: StepSums) -> None:
        """End the step, by the sums over all its samples, wherever they were computed."""
        before = self.oracle.saturations.total()
        self.oracle.update(sums)
        self.saturations = sums.saturations + self.oracle.saturations.total() - before

    def entries(self) -> dict[Tensor, tuple[int, int | None]]:
        """Exponent and peak of every entry of the exponent file."""
        return self.oracle.exponents.entries()

    def set_entries(self, entries: Mapping[Tensor, tuple[int, int | None]]) -> None:
        """Go on with other exponents and peaks."""
        self.oracle.exponents.load(entries)

    def take(self, sample: Sample, *following: Sample) -> None:
        self.oracle.take(sample)

    def evaluate(self) -> Metrics:
        return self.oracle.evaluate()

    def snapshot(self) -> dict[str, IntArray]:
        oracle = self.oracle
        values: dict[str, IntArray] = {
            name: tensor for name, tensor in oracle.tensors.items()
            if name.during != Pass.EVALUATION and name not in (EDGES, FEATURES)}
        for name, arrays in oracle.kept.items():
            for kind, state in arrays.items():
                values[f"{name}.{kind}"] = np.atleast_2d(state)
            values[name] = np.atleast_2d(oracle.tensors[name])
        values["exponents"] = np.array([list(self.exponents().values())])
        return values

    def exponents(self) -> dict[Tensor, int]:
        return exponents_of_training(self.oracle.exponents.items())

    def logits(self) -> tuple[IntArray, int]:
        name = logits_tensor(self.oracle.network)
        return self.oracle.tensors[name], self.oracle.exponents[name]

    def state(self) -> TrainingState:
        return self.oracle.state()

    def load_state(self, state: TrainingState) -> None:
        self.oracle.load_state(state)
