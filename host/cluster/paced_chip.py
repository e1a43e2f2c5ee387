"""The chip of one of several boards, which tells its group what it computes."""

from hypercast.host.cluster.group import Group
from hypercast.host.runtime.devices import TrainingDevice
from hypercast.host.runtime.wrapped_device import WrappedDevice
from hypercast.reference.network import Network
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums

__all__ = ["PacedChip"]


class PacedChip(WrappedDevice):
    """A chip whose passes take the time that a group's clock says.

    Parameters
    ----------
    device : TrainingDevice
        The chip; its steps are in pieces.
    network : Network
        What it trains.
    group : Group
        Is told of steps, and of the passes in training.
    """

    def __init__(self, device: TrainingDevice, network: Network, group: Group) -> None:
        super().__init__(device)
        self._layers = range(1, len(network.layers) + 1)
        self._group = group
        self._sample: Sample | None = None

    def take(self, sample: Sample, *following: Sample) -> None:
        super().take(sample, *following)
        self._sample = sample

    def begin_step(self) -> None:
        """Begin a step, see ``SteppedChip``."""
        self._group.begin_step()
        self._device.begin_step()  # type: ignore[attr-defined]

    def step_sums(self) -> StepSums:
        """The ``StepSums`` of the present sample."""
        assert self._sample
        for forward in (True, False):
            self._group.compute(self._sample, self._layers, forward=forward)
        sums: StepSums = self._device.step_sums()  # type: ignore[attr-defined]
        return sums

    def update(self, sums: StepSums) -> None:
        """End a step, see ``SteppedChip``."""
        self._device.update(sums)  # type: ignore[attr-defined]
        self._group.end_step()
