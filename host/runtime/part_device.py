# SPDX-License-Identifier: BSD-2-Clause
"""A device that has a part of a training: the interface of the NumPy reference and of a chip."""

import abc
from collections.abc import Mapping
from typing import Protocol

from hypercast.host.runtime.passes import Entries, Passes
from hypercast.host.runtime.training_device import Device
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import Tensor

__all__ = ["Observer", "PartDevice"]


class Observer(Protocol):
    """Is told what a device computes in training, such as a group that has a clock."""

    def compute(self, sample: Sample, layers: range, *, forward: bool) -> None:
        """A reference begins a pass of some layers (from 1) on a sample."""

    def spend(self, name: str, cycles: int) -> None:
        """A chip has run a program that took so many cycles."""


class PartDevice(Device):
    """A device that has a part of a training: layers of the network, and rows of the graph.

    A step begins with ``begin_step``. Units pass, by ``step_sums`` or ``passes``. It ends with
    ``update``, by the sums over all units, wherever they were computed. The sums are exact, so any
    other device that does the same has the same bits.
    """

    @abc.abstractmethod
    def observe(self, observer: Observer) -> None:
        """Tell an observer what the device computes from now on."""

    @abc.abstractmethod
    def begin_step(self) -> None:
        """Begin a step: exponents of momenta and of what is foreseen are raised."""

    @abc.abstractmethod
    def step_sums(self, sample: Sample) -> StepSums:
        """The ``StepSums`` of a unit through the whole network, from where the step began."""

    @abc.abstractmethod
    def passes(self, sample: Sample, *, training: bool, step: int | None = None,
               entries: Entries | None = None,
               weights: Mapping[Tensor, Older] | None = None) -> Passes:
        """The passes of a unit through the layers that are here.

        Parameters
        ----------
        sample : Sample
            The unit.
        training : bool
            Whether it is of a training step; if not, of an evaluation.
        step : int, optional
            The step (from 0), if it is not the next one.
        entries : dict, optional
            The exponent file that they begin with, but for the parameters, if it is not the
            device's.
        weights : dict, optional
            The parameters that they take, if they may not be the newest ones.
        """

    @abc.abstractmethod
    def update(self, sums: StepSums, begun: Entries | None = None) -> None:
        """End a step: update the parameters by the sums over all its units.

        Parameters
        ----------
        sums : StepSums
            The sums, and the exponent file to go on with.
        begun : dict, optional
            The exponent file as the step found it, if no ``begin_step`` has seen it.

        Raises
        ------
        AccumulatorError
            If a sum does not fit an accumulator; nothing is changed then.
        """

    @abc.abstractmethod
    def operands(self) -> dict[Tensor, Older]:
        """The parameters after the last update, as passes take them: of layers here, at least."""

    @abc.abstractmethod
    def entries(self) -> dict[Tensor, tuple[int, int | None]]:
        """Exponent and peak of every entry of the exponent file."""

    @abc.abstractmethod
    def set_entries(self, entries: Entries) -> None:
        """Go on with other exponents and peaks."""
