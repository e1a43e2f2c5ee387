# SPDX-License-Identifier: BSD-2-Clause
"""The chip of one of several boards, which tells its group the cycles that it counted."""

from hypercast.host.processes.group import Group
from hypercast.host.runtime.stepped_chip import SteppedChip
from hypercast.host.runtime.wrapped_device import WrappedDevice
from hypercast.reference.step_sums import StepSums

__all__ = ["PacedChip"]


class PacedChip(WrappedDevice):
    """A chip whose programs move a group's clock by the cycles that they took.

    Parameters
    ----------
    device : SteppedChip
        The chip.
    group : Group
        Is told of steps, and of the cycles of each program in training.
    """

    def __init__(self, device: SteppedChip, group: Group) -> None:
        super().__init__(device)
        device.spent = group.spend
        self._chip = device
        self._group = group

    def begin_step(self) -> None:
        """Begin a step, see ``SteppedChip``."""
        self._group.begin_step()
        self._chip.begin_step()

    def step_sums(self) -> StepSums:
        """The ``StepSums`` of the present sample."""
        return self._chip.step_sums()

    def update(self, sums: StepSums) -> None:
        """End a step, see ``SteppedChip``."""
        self._chip.update(sums)
        self._group.end_step()
