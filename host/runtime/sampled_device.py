# SPDX-License-Identifier: BSD-2-Clause
"""A device that trains on samples: an epoch is a step for each of them, or for each few."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, reduce
from itertools import chain, islice, tee
from typing import Protocol, runtime_checkable

from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.runtime.wrapped_device import WrappedDevice
from hypercast.reference.array_types import IntArray
from hypercast.reference.judge import Judge
from hypercast.reference.metrics import Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import Kind, Pass, Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["AHEAD_STEPS", "SampledDevice", "SteppedDevice"]

#: Steps that an epoch has at least if they are to work ahead: it takes some to make up for the
#: first one, whose sums are made alone.
AHEAD_STEPS = 16


class Samples(Protocol):
    """Where samples come from."""

    @property
    def first(self) -> Sample:
        """The first one."""

    def __len__(self) -> int:
        """Samples of an epoch."""

    def epoch(self, number: int, numbers: Sequence[int] | None = None) -> Iterator[Sample]:
        """The samples of an epoch (from 0) with these numbers, in order; all if none are given."""


@runtime_checkable
class SteppedDevice(Protocol):
    """A device whose steps are in pieces: a reference, or a chip whose job is compiled so."""

    def begin_step(self) -> None:
        """Begin a step; for each of its samples, ``take`` and ``step_sums`` follow."""

    def step_sums(self) -> StepSums:
        """The ``StepSums`` of the present sample."""

    def update(self, sums: StepSums) -> None:
        """End the step, by the sums over all its samples."""

    def entries(self) -> dict[Tensor, tuple[int, int | None]]:
        """Exponent and peak of every entry of the exponent file."""

    def set_entries(self, entries: Mapping[Tensor, tuple[int, int | None]]) -> None:
        """Go on with other exponents and peaks."""


class SampledDevice(WrappedDevice):
    """Presents a training on samples like one on the whole graph, an epoch as a step.

    A step on one sample is the device's own; it is told the epoch's next two samples, too. A step
    on several adds up their ``StepSums``.

    Parameters
    ----------
    device : TrainingDevice
        Trains; it has not begun. With several samples a step, it is a ``SteppedDevice``.
    source : Samples
        Where samples come from.
    judge : callable
        Gives the ``Judge`` that evaluates the parameters on the whole graph, on the host.
    micro_batches : int
        Samples of a step; the last step of an epoch may have fewer.
    """

    def __init__(self, device: TrainingDevice, source: Samples, judge: Callable[[], Judge],
                 micro_batches: int = 1) -> None:
        super().__init__(device)
        self._micro_batches = micro_batches
        self._steps = -(-len(source) // micro_batches)
        self._source = source
        self._judge = cache(judge)
        self._epoch = 0
        self.saturations = 0

    def train_step(self, *, record: bool = False) -> Metrics:
        """An epoch; returns the ``Metrics`` of all its steps' forward passes, taken together.

        With ``record``, the profile of the last step is kept.
        """
        found = []
        self.saturations = 0
        parts = [range(len(self._source))[first:first + self._micro_batches]
                 for first in range(0, len(self._source), self._micro_batches)]
        own = [self._share(part) for part in parts]
        samples = self._source.epoch(self._epoch, [number for part in own for number in part])
        steps: Iterator[list[Sample]] = (list(islice(samples, len(part))) for part in own)
        coming = [islice(copy, first, None) for first, copy in
                  enumerate(tee(chain(steps, [[], []]), 3))]
        for last, (step, *following) in zip(
                range(1 - self._steps, 1), zip(*coming, strict=False), strict=True):
            found.append(self._step(step, [*chain(*following)], record=record and not last))
            self.saturations += self._device.saturations
        self._epoch += 1
        return reduce(Metrics.__add__, found)

    def _step(self, samples: Sequence[Sample], following: Sequence[Sample], *,
              record: bool) -> Metrics:
        """A step of which this device has these samples, and of the epoch's next two those."""
        if self._micro_batches == 1:
            [sample] = samples
            self._device.take(sample, *following)
            return self._device.train_step(record=record)
        device = self._device
        assert isinstance(device, SteppedDevice)
        exponent = self._largest(max((sample.edge_exponent for sample in samples), default=None))
        device.begin_step()
        parts = []
        for sample in samples:
            device.take(sample.with_edge_exponent(exponent))
            parts.append(device.step_sums())
        sums = self._total(StepSums.total(parts) if parts else None)
        device.update(sums)
        return sums.metrics

    # What differs where several devices share the samples of a step.

    def _share(self, numbers: Sequence[int]) -> Sequence[int]:
        """Which of a step's samples this device takes."""
        return numbers

    def _largest(self, exponent: int | None) -> int:
        """The largest exponent of all devices' samples; None is that of a device without any."""
        assert exponent is not None
        return exponent

    def _total(self, sums: StepSums | None) -> StepSums:
        """The sum over all devices."""
        assert sums is not None
        return sums

    def evaluate(self) -> Metrics:
        """``Metrics`` of the whole graph, computed by the reference."""
        return self._judged(self._device.state())

    def _judged(self, state: TrainingState) -> Metrics:
        return self._judge().judge(state)

    def logits(self) -> tuple[IntArray, int]:
        judge = self._judge()
        name = Tensor(Kind.LOGITS, len(judge.network.layers), Pass.EVALUATION)
        return judge.tensors[name], judge.exponents[name]

    def state(self) -> TrainingState:
        state = self._device.state()
        return replace(state, step=state.step // self._steps)

    def load_state(self, state: TrainingState) -> None:
        self._epoch = state.step
        self._device.load_state(replace(state, step=state.step * self._steps))
