# SPDX-License-Identifier: BSD-2-Clause
"""How boards share a training: what each of them does, as generators of actions."""

import abc
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hypercast.host.schemes.actions import Actions, LoadState
from hypercast.host.schemes.totals import Totals
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import LOSS_UNIT, Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.training_state import TrainingState

__all__ = ["Scheme", "Trained"]


class Trained(NamedTuple):
    """The results of steps.

    Attributes
    ----------
    metrics : Metrics
        Metrics of their forward passes, taken together.
    saturations : int
        Elements, master weights or momenta that saturated.
    """

    metrics: Metrics
    saturations: int

    def __or__(self, other: "Trained") -> "Trained":
        return Trained(self.metrics + other.metrics, self.saturations + other.saturations)


class Scheme(abc.ABC):
    """The work of one of several boards.

    All boards do the same things in the same order, each with what it has.

    Parameters
    ----------
    model : InitialModel
        The model that is trained; its sample is this board's part of the whole graph, or the first
        one.
    rank : int
        Which board this is, from 0; the first one leads.

    Attributes
    ----------
    sample : Sample
        The model's sample.
    """

    def __init__(self, model: InitialModel, rank: int) -> None:
        self.sample = model.sample
        self._rank = rank
        self._totals = Totals(model.state, LOSS_UNIT * model.sample.loss_scale)

    def own(self, numbers: Sequence[int]) -> Sequence[int]:
        """Numbers of the samples that this board takes, out of these numbers of a step."""
        return numbers

    @abc.abstractmethod
    def step(self, samples: Sequence[Sample]) -> Actions[Trained]:
        """A step on the samples that this board takes, or on the whole graph."""

    def train(self, steps: Iterator[Sequence[Sample]], sizes: Sequence[int]) -> Actions[Trained]:
        """The steps of an epoch.

        Parameters
        ----------
        steps : iterator of sequence of Sample
            What this board takes in each.
        sizes : sequence of int
            How many samples each step has, of all boards.
        """
        found = None
        for samples in steps:
            trained = yield from self.step(samples)
            found = trained if found is None else found | trained
        assert found is not None
        return found

    def evaluate(self) -> Actions[Metrics]:
        """A forward pass of the whole graph without dropout, if boards hold it."""
        raise NotImplementedError

    def logits(self) -> Actions[tuple[IntArray, int]]:
        """Logits of the last ``evaluate``, on the leader: mantissas, and their exponent."""
        raise NotImplementedError

    @abc.abstractmethod
    def state(self) -> Actions[TrainingState | None]:
        """The state of all, on the leader."""

    def load_state(self, state: TrainingState) -> Actions[None]:
        """Go on from a state."""
        yield from LoadState(state)
