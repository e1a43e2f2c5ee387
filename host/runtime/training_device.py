# SPDX-License-Identifier: BSD-2-Clause
"""Devices that train: the interface of the NumPy reference and of a chip."""

import abc
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hypercast.reference.array_types import IntArray
from hypercast.reference.metrics import Metrics
from hypercast.reference.network import Network
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import Kind, Pass, Tensor
from hypercast.reference.training_state import TrainingState

if TYPE_CHECKING:
    from hypercast.host.runtime.chip import Chip

__all__ = ["Device", "TrainingDevice", "exponents_of_training", "logits_tensor"]


class Device(abc.ABC):
    """A device that holds a training, or a part: its state, and results of its last step.

    Attributes
    ----------
    saturations : int
        Elements, master weights or momenta that saturated in the last training step.
    """

    saturations: int

    @abc.abstractmethod
    def evaluate(self) -> Metrics:
        """A forward pass without dropout; returns its ``Metrics``."""

    @abc.abstractmethod
    def snapshot(self) -> dict[str, IntArray]:
        """Every tensor of the last training step, and the parameters after it.

        Returns
        -------
        dict
            Name to integers: mantissas by tensor name, ``NAME.master``, ``NAME.momentum`` and, with
            Adam, ``NAME.second_moment`` by parameter, ``exponents`` (one for each tensor, in order
            of names).
        """

    @abc.abstractmethod
    def exponents(self) -> dict[Tensor, int]:
        """Exponent of each tensor of a training step, by name."""

    @abc.abstractmethod
    def logits(self) -> tuple[IntArray, int]:
        """Logits of the last evaluation: (V, C) mantissas in rank order, and their exponent."""

    @abc.abstractmethod
    def state(self) -> TrainingState:
        """The ``TrainingState`` now; the same bits on every device."""

    @abc.abstractmethod
    def load_state(self, state: TrainingState) -> None:
        """Go on from the ``TrainingState`` of a training of the same model, on any device."""

    def close(self) -> None:  # noqa: B027 - nothing to release by default
        """Release the device."""

    @property
    def chip(self) -> "Chip | None":
        """The chip's device, if there is one, however it is wrapped."""
        return None


class TrainingDevice(Device):
    """Trains one job, step by step."""

    @abc.abstractmethod
    def train_step(self, *, record: bool = False) -> Metrics:
        """One training step; returns the ``Metrics`` of its forward pass.

        With ``record``, a simulated chip keeps its ``profile``; other devices have none and refuse.
        """

    def take(self, sample: Sample, *following: Sample) -> None:
        """Go on with another ``Sample``; samples ``following`` it may be given, if they are known.

        Two of them are of use: a step can aggregate for the next one, and meanwhile the host can
        bring what that one will read.

        Raises
        ------
        CapacityError
            If the device has not enough memory for it.
        """
        raise NotImplementedError("what shares samples with others draws them itself")


def logits_tensor(network: Network) -> Tensor:
    """The tensor of an evaluation that holds the logits."""
    return Tensor(Kind.LOGITS, len(network.layers), Pass.EVALUATION)


def exponents_of_training(exponents: Iterable[tuple[Tensor, int]]) -> dict[Tensor, int]:
    """The exponents of a training step's tensors among (tensor, exponent) of all, in order."""
    return {name: value for name, value in sorted(exponents) if name.during == Pass.TRAINING}
