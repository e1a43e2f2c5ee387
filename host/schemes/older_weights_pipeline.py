# SPDX-License-Identifier: BSD-2-Clause
"""Layers in a pipeline that goes on from step to step: gradients are of older weights."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeAlias

import numpy as np

from hypercast.errors import InputError
from hypercast.host.processes.group import Group
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schedules.turns import one_forward_one_backward
from hypercast.host.schemes.layers_in_pipeline import LayersInPipeline, SampledPipeline, no_metrics
from hypercast.host.schemes.older_weights_stage import OlderWeightsStage
from hypercast.host.schemes.stage import StagePasses
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import BACKWARD, EDGES, FEATURES, Kind, Tensor

__all__ = ["OlderWeightsPipeline", "SampledOlderWeightsPipeline"]

#: Steps at whose end all boards wait for each other: exponents of the second one are foreseen,
#: which takes the peaks of all boards.
_TOGETHER = 2

Entries: TypeAlias = dict[Tensor, tuple[int, int | None]]


@dataclass
class _Step:
    """A step that is under way on a board.

    Parameters
    ----------
    begun : dict
        Entries of the exponent file as its passes found them.
    opened : dict
        Entries that this board's passes opened: forward, and backward.
    received : dict
        Entries that came with rows.
    weights : dict
        The parameters that its passes take.
    sums : StepSums, optional
        Sums of the micro-batches that are done.
    """

    begun: Entries
    weights: Mapping[Tensor, Older]
    opened: dict[bool, Entries] = field(default_factory=lambda: {True: {}, False: {}})
    received: dict[bool, Entries] = field(default_factory=lambda: {True: {}, False: {}})
    sums: StepSums | None = None

    def left(self, forward: bool) -> Entries:
        """What its passes left behind."""
        return {**self.received[forward], **self.opened[forward]}


class OlderWeightsPipeline(LayersInPipeline):
    """One of several devices, each a run of layers, which compute what ``OlderWeightsGnn`` does.

    Parameters
    ----------
    device : TrainingDevice
        Has this rank's layers: an ``OlderWeightsStage``.
    model, group, runs, in_flight
        As of ``LayersInPipeline``.
    staleness : sequence of int
        As of ``OlderWeightsGnn``: it does not rise from layer to layer. A board may have layers of
        several stages, or a part of a stage's.
    """

    def __init__(self, device: TrainingDevice, model: InitialModel, group: Group,
                 staleness: Sequence[int], runs: Sequence[range],
                 in_flight: Sequence[int] = ()) -> None:
        super().__init__(device, model, group, runs, in_flight)
        self._staleness = tuple(staleness)

    def train_through(self, steps: Iterator[Sequence[Sample]], sizes: Sequence[int]) -> Metrics:
        """Steps, each of which begins while the one before is under way.

        A board's exponents are its own: those of what it computes follow what it computed in the
        step before, and others come with the rows. So boards need not wait for each other.

        Parameters
        ----------
        steps : iterator of sequence of Sample
            The micro-batches of each, whose edge weights have one exponent.
        sizes : sequence of int
            How many each step has: as many as the first one, but for the last.
        """
        device = self._stage
        first, entries = device.step, device.entries()
        places = [(step, place) for step, size in enumerate(sizes) for place in range(size)]
        #: This board's parameters for the steps to come, as far as they are known.
        coming = {name: deque((*device.versions[name], one))
                  for name, one in device.newest.items() if name.layer in self._own}
        # A step's first pass needs the update that is so many steps before its last.
        most = min(self._staleness[number - 1] for number in self._own) * sizes[0] + 1
        under_way: dict[int, _Step] = {}
        stages: dict[int, StagePasses] = {}
        samples: Sequence[Sample] = ()
        metrics, saturations = no_metrics(self._sample), 0
        for forward, number in one_forward_one_backward(
                min(self._in_flight, most), len(places)):
            step, place = places[number]
            last = place == sizes[step] - 1
            if forward:
                if place == 0:
                    samples = next(steps)
                    self._group.begin_step()
                    under_way[step] = _Step(dict(entries), {
                        name: versions.popleft() for name, versions in coming.items()})
                stages[number] = device.passes_in(
                    first + step, samples[place], entries, under_way[step].weights)
                self._pass(under_way[step], stages[number], forward=True)
                if last:
                    entries |= under_way[step].left(True)
                continue
            now, stage = under_way[step], stages.pop(number)
            found = {name: entry for name, entry in entries.items() if self._of_backward(name)}
            if place == 0:
                now.begun |= found
            stage.set_entries(found)
            self._pass(now, stage, forward=False)
            sums = replace(stage.sums(no_metrics(stage.sample)), entries={})
            now.sums = sums if now.sums is None else now.sums + sums
            if last:
                entries |= now.left(False)
                metrics = metrics + now.sums.metrics
                saturations += now.sums.saturations + self._end(now, entries)
                newest = device.newest
                for name, versions in coming.items():
                    versions.append(newest[name])
                done = under_way.pop(step)
        own = {**done.opened[True], **done.opened[False]} | {
            name: entries[name] for name in self._own_weights} | {
            EDGES: (samples[-1].edge_exponent, None),
            FEATURES: (samples[-1].features.exponent, None)}
        device.set_entries({**entries, **self._totals.entries(own)})
        self._group.end_step()
        self.saturations = int(self._group.sum(np.array([saturations]))[0])
        return self._totals.metrics(metrics)

    def _pass(self, step: _Step, stage: StagePasses, *, forward: bool) -> None:
        """A pass of a micro-batch, and what it leaves of exponents."""
        self._pass_on(stage, forward=forward)
        opened = step.opened[forward]
        for name, (exponent, peak) in stage.opened.items():
            if forward or self._of_backward(name):
                peaks = [one for one in (peak, opened.get(name, (0, None))[1]) if one is not None]
                opened[name] = exponent, max(peaks, default=None)
        kind, layer = (Kind.HIDDEN, self._own[0] - 1) if forward else (
            Kind.GRADIENT, self._own[-1])
        name = Tensor(kind, layer)
        if layer and name not in opened and name not in step.opened[True]:
            step.received[forward][name] = stage.exponent(name), None

    def _end(self, step: _Step, entries: Entries) -> int:
        """Update this board's parameters, and their ``entries``; how many saturated."""
        device, sums = self._stage, step.sums
        assert sums is not None
        device.end_step(step.begun, replace(
            sums, saturations=0, entries={**entries, **step.left(True), **step.left(False)}))
        updated = device.entries()
        entries |= {name: updated[name] for name in self._own_weights}
        return device.saturations

    @property
    def _stage(self) -> OlderWeightsStage:
        device: OlderWeightsStage = self._device  # type: ignore[assignment]
        return device

    @property
    def _own_weights(self) -> set[Tensor]:
        """Entries of this board's parameters."""
        return {self._network.exponent_entry(name) for name in self._stage.newest
                if name.layer in self._own}

    def _of_backward(self, name: Tensor) -> bool:
        """Whether an entry is opened on the way back; the loss is at the end of the way there."""
        return name.kind in BACKWARD and name != Tensor(
            Kind.GRADIENT, len(self._network.layers))


class SampledOlderWeightsPipeline(SampledPipeline):
    """One of several devices, each a run of layers, that train on samples; their steps overlap.

    Parameters are those of ``SampledDevice``; the device is ``OlderWeightsPipeline``.
    """

    def train_step(self, *, record: bool = False) -> Metrics:
        if record:
            raise InputError("the reference has no timeline to record; train on a simulated chip")
        device, count = self._device, len(self._source)
        assert isinstance(device, OlderWeightsPipeline)
        sizes = [min(self._micro_batches, count - first)
                 for first in range(0, count, self._micro_batches)]
        steps = self._samples_of(tuple(sizes))
        metrics, self.saturations = no_metrics(self._source.first), 0
        while sizes and device.step < _TOGETHER:
            sizes.pop(0)
            metrics = metrics + device.train_on(next(steps))
            self.saturations += device.saturations
        if sizes:
            metrics = metrics + device.train_through(steps, sizes)
            self.saturations += device.saturations
        self._epoch += 1
        return metrics

    def _samples_of(self, sizes: Sequence[int]) -> Iterator[Sequence[Sample]]:
        """The samples of an epoch, step by step, each with one exponent of edge weights."""
        samples = self._source.epoch(self._epoch)
        for size in sizes:
            taken = list(islice(samples, size))
            exponent = max(sample.edge_exponent for sample in taken)
            yield [sample.with_edge_exponent(exponent) for sample in taken]
