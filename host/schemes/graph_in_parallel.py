# SPDX-License-Identifier: BSD-2-Clause
"""The vertices of a graph are divided among boards; rows cross before they are summed."""

from dataclasses import replace

import numpy as np

from hypercast.errors import InputError
from hypercast.host.processes.group import Group
from hypercast.host.runtime.sampled_device import SteppedDevice
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.runtime.wrapped_device import WrappedDevice
from hypercast.host.schemes.shared_rows import SharedRows
from hypercast.host.schemes.stale_shared_rows import StaleSharedRows
from hypercast.host.schemes.total import Totals
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import LOSS_UNIT, Metrics
from hypercast.reference.training_state import TrainingState

__all__ = ["GraphInParallel", "StaleGraphInParallel"]


class GraphInParallel(WrappedDevice):
    """One of several devices that train on a whole graph together.

    Every rank has the rows of its own vertices, and all weights. Before rows are summed over
    neighbours, forward or backward, each sends those that others read. Sums of gradients are added
    up once a step. That is the step of one board: sums are integers, and in any order the same.

    Parameters
    ----------
    device : TrainingDevice
        Has this rank's part of the sample, whose place is connected to the group. A
        ``SteppedDevice``.
    model : InitialModel
        The model with that part.
    group : Group
        The ranks.
    """

    #: What all ranks have to do at the same time.
    TOGETHER = frozenset({"train_step", "evaluate", "logits", "load_state"})

    def __init__(self, device: TrainingDevice, model: InitialModel, group: Group) -> None:
        super().__init__(device)
        assert isinstance(model.sample.place, SharedRows)
        self._place = model.sample.place
        self._group = group
        self._totals = Totals(group, model.state, LOSS_UNIT * model.sample.loss_scale)

    def train_step(self, *, record: bool = False) -> Metrics:
        if record:
            raise InputError("a step that boards share is several programs, of which no timeline "
                             "is kept; train on one board")
        device = self._device
        assert isinstance(device, SteppedDevice)
        device.begin_step()
        sums = self._totals.of(device.step_sums())
        device.update(sums)
        self.saturations = device.saturations
        return sums.metrics

    def evaluate(self) -> Metrics:
        device = self._device
        assert isinstance(device, SteppedDevice)
        metrics = device.evaluate()
        device.set_entries(self._totals.entries(device.entries()))
        return self._totals.metrics(metrics)

    def logits(self) -> tuple[IntArray, int]:
        own, exponent = super().logits()
        parts = self._group.gather((self._place.ranks, own))
        if not parts:
            return own, exponent
        found = np.empty((sum(len(ranks) for ranks, _ in parts), own.shape[1]), own.dtype)
        for ranks, rows in parts:
            found[ranks] = rows
        return found, exponent


class StaleGraphInParallel(GraphInParallel):
    """As above, but rows of others are those of the step before; see ``StaleParts``.

    Parameters
    ----------
    device, model, group
        As of ``GraphInParallel``; the sample's place is ``StaleSharedRows``.
    """

    #: What all ranks have to do at the same time.
    TOGETHER = GraphInParallel.TOGETHER | {"state"}

    def state(self) -> TrainingState:
        """The state, with the rows that all parts take next; only the leader has all of them."""
        assert isinstance(self._place, StaleSharedRows)
        parts = self._group.gather(self._place.placed())
        return replace(super().state(), older=StaleSharedRows.together(parts))
