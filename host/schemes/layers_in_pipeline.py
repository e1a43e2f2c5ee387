# SPDX-License-Identifier: BSD-2-Clause
"""Each board has a run of layers; activations and gradients of micro-batches cross between them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hypercast.errors import InputError
from hypercast.host.processes.group import Group
from hypercast.host.runtime.sampled_device import SampledDevice
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.runtime.wrapped_device import WrappedDevice
from hypercast.host.schedules.turns import one_forward_one_backward
from hypercast.host.schemes.layer_crossings import Routes
from hypercast.host.schemes.stage import Message, StageDevice, StagePasses
from hypercast.host.schemes.total import Totals
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import LOSS_UNIT, Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["LayersInPipeline", "SampledPipeline", "no_metrics"]


class LayersInPipeline(WrappedDevice):
    """One of several devices that train together, each a run of layers, synchronously.

    Micro-batches of a step follow each other through the boards, one forward, one backward. Each
    board updates the parameters of its own layers when all of them have passed. What a step
    computes is what one board computes of the same micro-batches.

    Parameters
    ----------
    device : TrainingDevice
        Has this rank's layers: a ``StageDevice``.
    model : InitialModel
        The whole model, the same on all ranks.
    group : Group
        The ranks, in the order of their layers.
    runs : sequence of range
        The layers of each rank, from 1.
    in_flight : sequence of int
        Micro-batches that each has begun and not done, at most; as many as there are ranks from it
        on, if none are given.
    """

    #: What all ranks have to do at the same time.
    TOGETHER = frozenset({"train_step", "evaluate", "logits", "state", "load_state"})

    def __init__(self, device: TrainingDevice, model: InitialModel, group: Group,
                 runs: Sequence[range], in_flight: Sequence[int] = ()) -> None:
        super().__init__(device)
        self._network = model.network
        self._names = tuple(model.state.parameters)
        self._group = group
        self._sample = model.sample
        self._totals = Totals(group, model.state, LOSS_UNIT * model.sample.loss_scale)
        self._own = runs[group.rank]
        #: From and to which ranks messages go, by whether a pass is forward.
        self._routes = {forward: Routes.of(model.network, runs, group.rank, forward=forward)
                        for forward in (False, True)}
        self._in_flight = in_flight[group.rank] if in_flight else group.size - group.rank

    # What differs where chunks of a graph follow each other.

    def _turns(self, count: int) -> Iterator[tuple[bool, int]]:
        """In which order micro-batches go forward and back."""
        return one_forward_one_backward(self._in_flight, count)

    def train_step(self, *, record: bool = False) -> Metrics:
        if record:
            raise InputError("a step that boards share is several programs, of which no timeline "
                             "is kept; train on one board")
        return self.train_on([self._sample])

    def train_on(self, samples: Sequence[Sample]) -> Metrics:
        """A step on micro-batches, whose edge weights have one exponent."""
        device, group = self._stage, self._group
        group.begin_step()
        device.begin_step()
        begun = device.entries()
        stages: dict[int, StagePasses] = {}
        found = None
        for forward, number in self._turns(len(samples)):
            if forward:
                stages[number] = device.passes(samples[number], training=True)
                self._pass_on(stages[number], forward=True)
                continue
            stage = stages.pop(number)
            self._pass_on(stage, forward=False)
            sums = stage.sums(no_metrics(stage.sample))
            found = sums if found is None else found + sums
        assert found is not None
        entries = {**begun, **self._totals.entries(found.entries)}
        device.update(StepSums(gradients=found.gradients, entries=entries, metrics=found.metrics,
                               saturations=0))
        group.end_step()
        entries = device.entries()
        entry_of = self._network.exponent_entry
        device.set_entries({**entries, **self._totals.entries({
            entry_of(name): entries[entry_of(name)] for name in found.gradients})})
        own = found.saturations + device.saturations
        self.saturations = int(group.sum(np.array([own]))[0])
        return self._totals.metrics(found.metrics)

    @property
    def _stage(self) -> StageDevice:
        device: StageDevice = self._device  # type: ignore[assignment]
        return device

    def _pass_on(self, stage: StagePasses, *, forward: bool) -> None:
        """A pass of a micro-batch, between the stages that make what it takes and take what it
        makes.

        All ranks take micro-batches in one order, so messages between two of them are received in
        the order in which they are sent.
        """
        group, routes, message = self._group, self._routes[forward], Message()
        for source in routes.sources:
            message |= group.receive(source)
        if stage.training and not self.chip:  # which counts its cycles
            group.compute(stage.sample, self._own, forward=forward)
        if forward:
            stage.forward(message)
        else:
            stage.backward(message)
        for target, crossing in routes.sent.items():
            group.send(target, stage.message(crossing))

    def evaluate(self) -> Metrics:
        device = self._stage
        stage = device.passes(self._sample, training=False)
        self._pass_on(stage, forward=True)
        device.set_entries({**device.entries(), **self._totals.entries(stage.opened)})
        return self._totals.metrics(stage.metrics or no_metrics(self._sample))

    def logits(self) -> tuple[IntArray, int]:
        last = self._group.size - 1
        if self._group.rank == last:
            found = super().logits()
            if last:
                self._group.send(0, found)
            return found
        received: tuple[IntArray, int] = self._group.receive(last) if self._group.rank == 0 else (
            np.empty((0, 0), dtype=np.int64), 0)
        return received

    def state(self) -> TrainingState:
        """The state of all layers; only the leader has it."""
        own = super().state()
        found: tuple[dict[Tensor, Any], ...] = (
            dict(own.parameters), dict(own.momentum_exponents), dict(own.versions))
        for parts in self._group.gather(tuple(
                {name: value for name, value in part.items() if name.layer in self._own}
                for part in found)):
            for part, more in zip(found, parts, strict=True):
                part.update(more)
        parameters, momenta, versions = found
        return replace(own, momentum_exponents=momenta, versions=versions, parameters={
            name: parameters[name] for name in self._names if name in parameters})

    @property
    def leads(self) -> bool:
        """Whether this is the leader."""
        return self._group.rank == 0


class SampledPipeline(SampledDevice):
    """One of several devices that train on samples, each a run of layers.

    Parameters are those of ``SampledDevice``; the device is ``LayersInPipeline``.
    """

    #: What all ranks have to do at the same time.
    TOGETHER = frozenset({"train_step", "evaluate", "state", "load_state"})

    def _step(self, samples: Sequence[Sample], following: Sequence[Sample], *,
              record: bool) -> Metrics:
        assert isinstance(self._device, LayersInPipeline)
        exponent = max(sample.edge_exponent for sample in samples)
        return self._device.train_on([sample.with_edge_exponent(exponent) for sample in samples])

    def evaluate(self) -> Metrics:
        """``Metrics`` of the whole graph, computed by the leader; others only give their layers."""
        state = self._device.state()
        assert isinstance(self._device, LayersInPipeline)
        return self._judged(state) if self._device.leads else no_metrics(self._source.first)


def no_metrics(sample: Sample) -> Metrics:
    """The metrics of no vertices: all counts are zero."""
    none = np.zeros(4, dtype=np.int64)
    return Metrics(none, none, none, none, LOSS_UNIT * sample.loss_scale)
