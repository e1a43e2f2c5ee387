# SPDX-License-Identifier: BSD-2-Clause
"""The fixed-point reference as a device that trains."""

from collections.abc import Mapping

import numpy as np

from hypercast.errors import InputError
from hypercast.host.runtime.part_device import Observer, PartDevice
from hypercast.host.runtime.passes import Entries
from hypercast.host.runtime.reference_passes import ReferencePasses
from hypercast.host.runtime.training_device import (
    TrainingDevice,
    exponents_of_training,
    logits_tensor,
)
from hypercast.reference.array_types import IntArray
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import EDGES, FEATURES, Pass, Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["ReferenceDevice"]


class ReferenceDevice(TrainingDevice, PartDevice):
    """The fixed-point reference.

    Parameters
    ----------
    model : InitialModel
        The model that is trained.
    oracle : FixedGnn, optional
        Trains it; one is made if it is not given.
    layers : range, optional
        Numbers of the layers (from 1) that passes go through; all of them if not given.

    Attributes
    ----------
    oracle : FixedGnn
        Trains it.
    """

    def __init__(self, model: InitialModel, oracle: FixedGnn | None = None,
                 layers: range | None = None) -> None:
        self.oracle = oracle or FixedGnn(model)
        self._layers = layers or range(1, len(model.network.layers) + 1)
        self._evaluated: ReferencePasses | None = None
        self._observer: Observer | None = None
        self.saturations = 0

    def train_step(self, *, record: bool = False) -> Metrics:
        if record:
            raise InputError("the reference has no timeline to record; train on a simulated chip")
        before = self.oracle.saturations.total()
        metrics = self.oracle.train_step()
        self.saturations = self.oracle.saturations.total() - before
        return metrics

    # What a ``PartDevice`` does.

    def observe(self, observer: Observer) -> None:
        """Tell an observer each pass in training from now on, before it is computed.

        Passes of ``step_sums`` are told layer by layer, as rows of others may come in between.
        """
        def begins(number: int, *, forward: bool) -> None:
            observer.compute(self.oracle.sample, range(number, number + 1), forward=forward)

        self.oracle.observer, self._observer = begins, observer

    def begin_step(self) -> None:
        self.oracle.begin_step()

    def step_sums(self, sample: Sample) -> StepSums:
        if sample is not self.oracle.sample:
            self.oracle.take(sample)
        return self.oracle.step_sums()

    def passes(self, sample: Sample, *, training: bool, step: int | None = None,
               entries: Entries | None = None,
               weights: Mapping[Tensor, Older] | None = None) -> ReferencePasses:
        key = self.oracle.rules.step_key(self.oracle.step if step is None else step)
        found = ReferencePasses(self.oracle, sample, self._layers, key if training else None,
                                entries=entries, weights=weights, observer=self._observer)
        if not training:
            self._evaluated = found
        return found

    def update(self, sums: StepSums, begun: Entries | None = None) -> None:
        if begun is not None:
            self.oracle.rules.begin_step(self.oracle.step, begun)
        before = self.oracle.saturations.total()
        self.oracle.update(sums)
        self.saturations = sums.saturations + self.oracle.saturations.total() - before

    def operands(self) -> dict[Tensor, Older]:
        oracle = self.oracle
        return {name: Older(oracle.tensors[name], oracle.exponents[name]) for name in oracle.kept}

    def entries(self) -> dict[Tensor, tuple[int, int | None]]:
        return self.oracle.exponents.entries()

    def set_entries(self, entries: Entries) -> None:
        self.oracle.exponents.load(entries)

    def take(self, sample: Sample, *following: Sample) -> None:
        self.oracle.take(sample)

    def evaluate(self) -> Metrics:
        self._evaluated = None
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
        passes = self._evaluated.passes if self._evaluated else self.oracle
        return passes.tensors[name], passes.exponents[name]

    def state(self) -> TrainingState:
        return self.oracle.state()

    def load_state(self, state: TrainingState) -> None:
        self.oracle.load_state(state)
