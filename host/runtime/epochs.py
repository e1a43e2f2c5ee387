# SPDX-License-Identifier: BSD-2-Clause
"""The epochs of a training on samples: which a step takes, and how the parameters are evaluated."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Protocol

from hypercast.host.runtime.training_device import logits_tensor
from hypercast.reference.array_types import IntArray
from hypercast.reference.judge import Judge
from hypercast.reference.metrics import Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.training_state import TrainingState

__all__ = ["AHEAD_STEPS", "Epochs"]

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


class Epochs:
    """The samples of each epoch, step by step.

    Parameters
    ----------
    source : Samples
        Where samples come from.
    judge : callable
        Gives the ``Judge`` that evaluates the parameters on the whole graph, on the host.
    micro_batches : int
        Samples of a step; the last step of an epoch may have fewer.

    Attributes
    ----------
    sizes : list of int
        Samples of each step of an epoch.
    """

    def __init__(self, source: Samples, judge: Callable[[], Judge],
                 micro_batches: int = 1) -> None:
        self._source = source
        self._judge = cache(judge)
        self._epoch = 0
        self._parts = [range(len(source))[first:first + micro_batches]
                       for first in range(0, len(source), micro_batches)]
        self.sizes = [len(part) for part in self._parts]

    def steps(self, own: Callable[[Sequence[int]], Sequence[int]] = lambda numbers: numbers,
              ) -> Iterator[list[Sample]]:
        """The samples of the next epoch's steps.

        Parameters
        ----------
        own : callable
            Picks the numbers of a step's samples that are needed here.
        """
        parts = [own(part) for part in self._parts]
        samples = self._source.epoch(self._epoch, [number for part in parts for number in part])
        self._epoch += 1
        return (list(islice(samples, len(part))) for part in parts)

    def judge(self, state: TrainingState) -> Metrics:
        """``Metrics`` of the whole graph, computed by the reference."""
        return self._judge().judge(state)

    def logits(self) -> tuple[IntArray, int]:
        """Logits of the parameters that were judged last: mantissas, and their exponent."""
        judge = self._judge()
        name = logits_tensor(judge.network)
        return judge.tensors[name], judge.exponents[name]

    # An epoch is presented like a step on the whole graph.

    def after_epochs(self, state: TrainingState) -> TrainingState:
        """A device's state whose steps are epochs."""
        return replace(state, step=state.step // len(self.sizes))

    def go_on_from(self, state: TrainingState) -> TrainingState:
        """Go on with an epoch; gives the device's state of one whose steps are epochs."""
        self._epoch = state.step
        return replace(state, step=state.step * len(self.sizes))
