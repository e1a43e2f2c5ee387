# SPDX-License-Identifier: BSD-2-Clause
"""A device that trains alone, on samples or compared with the reference."""

from collections.abc import Iterator
from functools import reduce
from itertools import chain, islice, tee

from hypercast.host.runtime.check import Check
from hypercast.host.runtime.chip import Chip
from hypercast.host.runtime.comparison import Comparison
from hypercast.host.runtime.epochs import Epochs
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.reference.array_types import IntArray
from hypercast.reference.metrics import Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["SingleDevice"]


class SingleDevice(TrainingDevice):
    """Presents a training on samples like one on the whole graph, an epoch as a step.

    The device is told the epoch's next two samples with each.

    Parameters
    ----------
    device : TrainingDevice
        Trains; it has not begun.
    epochs : Epochs, optional
        The samples, if it is not trained on the whole graph; one of them is a step.
    check : Check, optional
        Is shown every step.
    """

    def __init__(self, device: TrainingDevice, epochs: Epochs | None = None,
                 check: Check | None = None) -> None:
        self._device = device
        self._epochs = epochs
        self._check = check
        self.saturations = 0

    def train_step(self, *, record: bool = False) -> Metrics:
        """An epoch; returns the ``Metrics`` of all its steps' forward passes, taken together.

        With ``record``, the profile of the last step is kept.
        """
        self.saturations = 0
        if self._epochs is None:
            return self._step(record=record)
        steps: Iterator[list[Sample]] = self._epochs.steps()
        coming = [islice(copy, first, None) for first, copy in
                  enumerate(tee(chain(steps, [[], []]), 3))]
        found = []
        for last, ([sample], *following) in zip(
                range(1 - len(self._epochs.sizes), 1), zip(*coming, strict=False), strict=True):
            self.take(sample, *chain(*following))
            found.append(self._step(record=record and not last))
        return reduce(Metrics.__add__, found)

    def _step(self, *, record: bool) -> Metrics:
        metrics = self._device.train_step(record=record)
        self.saturations += self._device.saturations
        if self._check:
            self._check.compare_step(self._device)
        return metrics

    def take(self, sample: Sample, *following: Sample) -> None:
        self._device.take(sample, *following)
        if self._check:
            self._check.take(sample)

    def evaluate(self) -> Metrics:
        """``Metrics`` of the whole graph; of samples, computed by the reference."""
        return self._epochs.judge(self._device.state()) if self._epochs else \
            self._device.evaluate()

    def logits(self) -> tuple[IntArray, int]:
        return self._epochs.logits() if self._epochs else self._device.logits()

    def snapshot(self) -> dict[str, IntArray]:
        return self._device.snapshot()

    def exponents(self) -> dict[Tensor, int]:
        return self._device.exponents()

    def state(self) -> TrainingState:
        state = self._device.state()
        return self._epochs.after_epochs(state) if self._epochs else state

    def load_state(self, state: TrainingState) -> None:
        state = self._epochs.go_on_from(state) if self._epochs else state
        self._device.load_state(state)
        if self._check:
            self._check.load_state(state)

    def close(self) -> None:
        self._device.close()

    @property
    def words(self) -> Comparison:
        """How many words were equal to the reference's so far."""
        return self._check.words if self._check else Comparison()

    @property
    def chip(self) -> Chip | None:
        return self._device.chip
