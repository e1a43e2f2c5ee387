# SPDX-License-Identifier: BSD-2-Clause
"""Compares every tensor of a device with the reference after every step."""

from hypercast.host.runtime.comparison import Comparison, compare
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.reference.sample import Sample
from hypercast.reference.training_state import TrainingState

__all__ = ["Check"]


class Check:
    """Trains the reference beside a device.

    Parameters
    ----------
    reference : ReferenceDevice
        The reference of the same model, as far trained.
    lanes : int
        Elements of a word.

    Attributes
    ----------
    words : Comparison
        How many words were equal so far.
    """

    def __init__(self, reference: ReferenceDevice, lanes: int) -> None:
        self._reference = reference
        self._lanes = lanes
        self.words = Comparison()

    def take(self, sample: Sample) -> None:
        """The device goes on with another sample."""
        self._reference.take(sample)

    def compare_step(self, device: TrainingDevice) -> None:
        """The device has done a step."""
        self._reference.train_step()
        self.words.add(compare(self._reference.snapshot(), device.snapshot(), self._lanes))

    def load_state(self, state: TrainingState) -> None:
        """The device goes on from another state."""
        self._reference.load_state(state)
