# SPDX-License-Identifier: BSD-2-Clause
"""The samples of a step are dealt to boards; gradient sums cross between them once a step."""

from collections.abc import Callable, Sequence

import numpy as np

from hypercast.host.cluster.assignment import turns
from hypercast.host.processes.group import Group
from hypercast.host.runtime.sampled_device import SampledDevice, Samples
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schemes.total import Totals
from hypercast.reference.judge import Judge
from hypercast.reference.metrics import LOSS_UNIT
from hypercast.reference.step_sums import StepSums

__all__ = ["SamplesInParallel"]

#: Below the exponent of every sample.
_NOTHING = -(1 << 20)


class SamplesInParallel(SampledDevice):
    """One of several devices that train on samples together, step by step.

    Every rank has the whole model, and takes some of each step's samples.

    Parameters
    ----------
    device, source, judge, micro_batches
        As those of ``SampledDevice``; the same on all ranks.
    group : Group
        The ranks, no more than there are samples in a step.
    counts : sequence of int
        How many samples of a step each rank takes; about as many if none are given.
    """

    #: What all ranks have to do at the same time.
    TOGETHER = frozenset({"train_step", "load_state"})

    def __init__(self, device: TrainingDevice, source: Samples, judge: Callable[[], Judge],
                 micro_batches: int, group: Group, counts: Sequence[int] = ()) -> None:
        super().__init__(device, source, judge, micro_batches)
        self._turns = turns(counts or [len(range(rank, micro_batches, group.size))
                                       for rank in range(group.size)])
        self._group = group
        self._totals = Totals(group, device.state(), LOSS_UNIT * source.first.loss_scale)

    def _share(self, numbers: Sequence[int]) -> Sequence[int]:
        return [number for number, rank in zip(numbers, self._turns, strict=False)
                if rank == self._group.rank]

    def _largest(self, exponent: int | None) -> int:
        own = np.array([_NOTHING if exponent is None else exponent])
        return int(self._group.maximum(own)[0])

    def _total(self, sums: StepSums | None) -> StepSums:
        return self._totals.of(sums)
