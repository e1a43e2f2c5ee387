# SPDX-License-Identifier: BSD-2-Clause
"""A device of which every tensor is compared with the reference after every step."""

from hypercast.host.runtime.comparison import Comparison, compare
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.runtime.wrapped_device import WrappedDevice
from hypercast.reference.metrics import Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.training_state import TrainingState

__all__ = ["CheckedDevice"]


class CheckedDevice(WrappedDevice):
    """Trains the reference as well.

    Parameters
    ----------
    device : TrainingDevice
        What is checked.
    reference : ReferenceDevice
        The reference of the same model, as far trained.
    lanes : int
        Elements of a word.

    Attributes
    ----------
    words : Comparison
        How many words were equal so far.
    """

    def __init__(self, device: TrainingDevice, reference: ReferenceDevice, lanes: int) -> None:
        super().__init__(device)
        self._reference = reference
        self._lanes = lanes
        self.words = Comparison()

    def train_step(self, *, record: bool = False) -> Metrics:
        metrics = super().train_step(record=record)
        self._reference.train_step()
        self.words.add(compare(self._reference.snapshot(), self.snapshot(), self._lanes))
        return metrics

    def take(self, sample: Sample, *following: Sample) -> None:
        super().take(sample, *following)
        self._reference.take(sample)

    def load_state(self, state: TrainingState) -> None:
        super().load_state(state)
        self._reference.load_state(state)
