"""A device that trains on samples: an epoch is a step for each of them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

import numpy as np

from hypercast.host.runtime.devices import TrainingDevice
from hypercast.host.runtime.wrapped_device import WrappedDevice
from hypercast.reference.array_types import IntArray
from hypercast.reference.judge import Judge
from hypercast.reference.metrics import Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import Kind, Pass, Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["SampledDevice"]


class Samples(Protocol):
    """Where samples come from."""

    def __len__(self) -> int:
        """Samples of an epoch."""

    def epoch(self, number: int) -> Iterable[Sample]:
        """The samples of an epoch (from 0), in order."""


class SampledDevice(WrappedDevice):
    """Presents a training on samples like one on the whole graph, an epoch as a step.

    Parameters
    ----------
    device : TrainingDevice
        Trains; it has not begun.
    source : Samples
        Where samples come from.
    judge : Judge
        Evaluates the parameters on the whole graph, on the host.
    """

    def __init__(self, device: TrainingDevice, source: Samples, judge: Judge) -> None:
        super().__init__(device)
        self._source = source
        self._judge = judge
        self._epoch = 0
        self.saturations = 0

    def train_step(self, *, record: bool = False) -> Metrics:
        """An epoch; returns the ``Metrics`` of all its steps' forward passes, taken together.

        With ``record``, the profile of the last step is kept.
        """
        found = []
        self.saturations = 0
        for number, sample in enumerate(self._source.epoch(self._epoch), 1):
            self._device.take(sample)
            found.append(self._device.train_step(
                record=record and number == len(self._source)))
            self.saturations += self._device.saturations
        self._epoch += 1
        sums = {name: np.sum([getattr(metrics, name) for metrics in found], axis=0)
                for name in ("loss", "correct", "wrong", "vertices")}
        return found[0]._replace(**sums)

    def evaluate(self) -> Metrics:
        """``Metrics`` of the whole graph, computed by the reference."""
        parameters = self._device.state().parameters
        return self._judge.judge({name: arrays["master"] for name, arrays in parameters.items()})

    def logits(self) -> tuple[IntArray, int]:
        name = Tensor(Kind.LOGITS, len(self._judge.network.layers), Pass.EVALUATION)
        return self._judge.tensors[name], self._judge.exponents[name]

    def state(self) -> TrainingState:
        state = self._device.state()
        return replace(state, step=state.step // len(self._source))

    def load_state(self, state: TrainingState) -> None:
        self._epoch = state.step
        self._device.load_state(replace(state, step=state.step * len(self._source)))
