# SPDX-License-Identifier: BSD-2-Clause
"""How the leader's trainer has all ranks do the same: it tells them what to call."""

from typing import Any, Protocol

from hypercast.errors import InputError
from hypercast.host.processes.group import Group
from hypercast.host.processes.virtual_time import VirtualTime
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.runtime.wrapped_device import WrappedDevice
from hypercast.reference.array_types import IntArray
from hypercast.reference.metrics import Metrics
from hypercast.reference.training_state import TrainingState

__all__ = ["LedDevice", "follow"]

_END, _TIME = "end", "time"


class _Together(Protocol):
    """One rank's share of a device."""

    #: Methods that all ranks call at the same time.
    TOGETHER: frozenset[str]


class LedDevice(WrappedDevice):
    """The leader's share of a device, which has the other ranks do theirs.

    Parameters
    ----------
    device : TrainingDevice
        The leader's share.
    group : Group
        All ranks; the others ``follow``.
    """

    def __init__(self, device: TrainingDevice, group: Group) -> None:
        super().__init__(device)
        self._group = group
        self._failed = False

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            if name in self._device.TOGETHER:  # type: ignore[attr-defined]
                self._group.tell((name, arguments))
            return getattr(self._device, name)(*arguments)
        except BaseException:
            self._failed = True  # and nobody knows what the others wait for
            raise

    def train_step(self, *, record: bool = False) -> Metrics:
        if record:
            raise InputError("several boards keep no timeline of a chip; train on one")
        metrics: Metrics = self._call("train_step")
        return metrics

    def evaluate(self) -> Metrics:
        metrics: Metrics = self._call("evaluate")
        return metrics

    def logits(self) -> tuple[IntArray, int]:
        found: tuple[IntArray, int] = self._call("logits")
        return found

    def state(self) -> TrainingState:
        state: TrainingState = self._call("state")
        return state

    def load_state(self, state: TrainingState) -> None:
        self._call("load_state", state)

    def virtual_time(self) -> VirtualTime | None:
        """The ``VirtualTime`` so far, if the group has a clock."""
        self._group.tell((_TIME, ()))
        return self._group.time()

    def close(self) -> None:
        """Let the other ranks end; if a call has failed, they are ended from outside."""
        if not self._failed:
            self._group.tell((_END, ()))
        super().close()


def follow(device: TrainingDevice, group: Group) -> None:
    """Do what the leader's ``LedDevice`` tells, until it is closed."""
    while True:
        name, arguments = group.tell()
        if name == _END:
            device.close()
            return
        if name == _TIME:
            group.time()
        else:
            getattr(device, name)(*arguments)
