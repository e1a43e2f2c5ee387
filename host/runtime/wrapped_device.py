# SPDX-License-Identifier: BSD-2-Clause
"""A device around another one."""

from typing import Any

from hypercast.host.runtime.chip_device import ChipDevice
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.reference.array_types import IntArray
from hypercast.reference.metrics import Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["WrappedDevice"]


class WrappedDevice(TrainingDevice):
    """Leaves to another device what a subclass does not do itself.

    Parameters
    ----------
    device : TrainingDevice
        The other one; all its attributes can be read here.
    """

    def __init__(self, device: TrainingDevice) -> None:
        self._device = device

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def train_step(self, *, record: bool = False) -> Metrics:
        return self._device.train_step(record=record)

    def take(self, sample: Sample, *following: Sample) -> None:
        self._device.take(sample, *following)

    def evaluate(self) -> Metrics:
        return self._device.evaluate()

    def snapshot(self) -> dict[str, IntArray]:
        return self._device.snapshot()

    def exponents(self) -> dict[Tensor, int]:
        return self._device.exponents()

    def logits(self) -> tuple[IntArray, int]:
        return self._device.logits()

    def state(self) -> TrainingState:
        return self._device.state()

    def load_state(self, state: TrainingState) -> None:
        self._device.load_state(state)

    def close(self) -> None:
        self._device.close()

    @property
    def chip(self) -> ChipDevice | None:
        return self._device.chip
