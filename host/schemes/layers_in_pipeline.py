# SPDX-License-Identifier: BSD-2-Clause
"""Each board has a run of layers; activations and gradients of micro-batches cross between them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hypercast.host.runtime.passes import Passes, no_metrics
from hypercast.host.schedules.turns import one_forward_one_backward
from hypercast.host.schemes.actions import (
    Actions,
    Backward,
    Begin,
    End,
    Forward,
    Gather,
    ReadEntries,
    ReadLogits,
    ReadState,
    Receive,
    Send,
    Sum,
    Update,
    WriteEntries,
)
from hypercast.host.schemes.layer_crossings import Routes
from hypercast.host.schemes.scheme import Scheme, Trained
from hypercast.host.schemes.weight_versions import WeightVersions
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["LayersInPipeline"]


class LayersInPipeline(Scheme):
    """Every board has a run of layers, and they train synchronously.

    Micro-batches of a step follow each other through the boards, one forward, one backward. Each
    board updates the parameters of its own layers when all of them have passed. What a step
    computes is what one board computes of the same micro-batches.

    Parameters
    ----------
    model : InitialModel
        The whole model, the same on all boards.
    rank : int
        Which board this is.
    runs : sequence of range
        The layers of each board, from 1, in order.
    in_flight : sequence of int
        Micro-batches that each has begun and not done, at most; as many as there are boards from it
        on, if none are given.
    staleness : sequence of int
        By how many updates the weights of each layer are older than the newest, as of
        ``OlderWeightsGnn``; none if they are not.
    """

    def __init__(self, model: InitialModel, rank: int, runs: Sequence[range],
                 in_flight: Sequence[int] = (), staleness: Sequence[int] = ()) -> None:
        super().__init__(model, rank)
        self._network = model.network
        self._names = tuple(model.state.parameters)
        self._own = runs[rank]
        self._last = rank == len(runs) - 1
        #: From and to which boards messages go, by whether a pass is forward.
        self._routes = {forward: Routes.of(model.network, runs, rank, forward=forward)
                        for forward in (False, True)}
        self._versions = WeightVersions(self._own, staleness)
        self._in_flight = in_flight[rank] if in_flight else len(runs) - rank

    def _turns(self, count: int) -> Iterator[tuple[bool, int]]:
        """In which order micro-batches go forward and back."""
        return one_forward_one_backward(self._in_flight, count)

    def step(self, samples: Sequence[Sample]) -> Actions[Trained]:
        exponent = max(sample.edge_exponent for sample in samples)
        weights = yield from self._versions.begin()
        yield from Begin()
        begun = yield from ReadEntries()
        found = None
        for forward, unit in self._turns(len(samples)):
            if forward:
                sample = samples[unit].with_edge_exponent(exponent)
                yield from self._pass(Forward(unit, sample, weights=weights))
                continue
            passes = yield from self._pass(Backward(unit))
            sums = passes.sums()
            found = sums if found is None else found + sums
        assert found is not None
        opened = yield from self._totals.entries(found.entries)
        saturations = yield from Update(
            replace(found, entries={**begun, **opened}, saturations=0))
        yield from self._versions.end()
        yield from End()
        entries = yield from ReadEntries()
        names = [self._network.exponent_entry(name) for name in found.gradients]
        parameters = yield from self._totals.entries({name: entries[name] for name in names})
        yield from WriteEntries({**entries, **parameters})
        return (yield from self._sum_up(found.metrics, found.saturations + saturations))

    def _sum_up(self, metrics: Metrics, saturations: int) -> Actions[Trained]:
        """The sums of all boards' results."""
        [total] = yield from Sum(np.array([saturations]))
        return Trained((yield from self._totals.metrics(metrics)), int(total))

    def _pass(self, action: Forward | Backward) -> Actions[Passes]:
        """A pass of a micro-batch, between the boards that make what it takes and take what it
        makes.

        All boards take micro-batches in one order, so messages between two of them are received in
        the order in which they are sent.
        """
        routes = self._routes[isinstance(action, Forward)]
        for source in routes.sources:
            yield from Receive(source)
        passes = yield from action
        for target, crossings in routes.sent.items():
            yield from Send(target, crossings)
        return passes

    def evaluate(self) -> Actions[Metrics]:
        passes = yield from self._pass(
            Forward(0, self.sample, training=False, weights=self._versions.newest))
        entries = yield from ReadEntries()
        opened = yield from self._totals.entries(passes.opened)
        yield from WriteEntries({**entries, **opened})
        return (yield from self._totals.metrics(passes.metrics or no_metrics(self.sample)))

    def logits(self) -> Actions[tuple[IntArray, int]]:
        own = np.empty((0, 0), dtype=np.int64), 0
        if self._last:
            own = yield from ReadLogits()
        found = yield from Gather(own)
        return found[-1] if found else own

    def state(self) -> Actions[TrainingState | None]:
        """The state of all layers, on the leader."""
        own = yield from ReadState()
        found: tuple[dict[Tensor, Any], ...] = (
            dict(own.parameters), dict(own.momentum_exponents), dict(self._versions.older))
        parts = yield from Gather(tuple(
            {name: value for name, value in part.items() if name.layer in self._own}
            for part in found))
        for others in parts:
            for part, more in zip(found, others, strict=True):
                part.update(more)
        parameters, momenta, versions = found
        return None if self._rank else replace(
            own, momentum_exponents=momenta, versions=versions, parameters={
                name: parameters[name] for name in self._names if name in parameters})

    def load_state(self, state: TrainingState) -> Actions[None]:
        yield from super().load_state(state)
        yield from self._versions.load(state.versions)
