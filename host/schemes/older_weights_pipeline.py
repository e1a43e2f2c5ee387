# SPDX-License-Identifier: BSD-2-Clause
"""Layers in a pipeline that goes on from step to step: gradients are of older weights."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hypercast.host.runtime.passes import Passes, no_metrics
from hypercast.host.schedules.turns import one_forward_one_backward
from hypercast.host.schemes.actions import (
    Actions,
    Backward,
    Begin,
    End,
    Forward,
    ReadEntries,
    Update,
    WriteEntries,
)
from hypercast.host.schemes.layers_in_pipeline import LayersInPipeline
from hypercast.host.schemes.scheme import Trained
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import BACKWARD, EDGES, FEATURES, Kind, Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["OlderWeightsPipeline"]

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
        """The results of its passes."""
        return {**self.received[forward], **self.opened[forward]}


class OlderWeightsPipeline(LayersInPipeline):
    """Boards compute what ``OlderWeightsGnn`` does, and their steps on samples overlap.

    A board may have layers of several stages, or a part of a stage's.

    Parameters
    ----------
    model, rank, runs, in_flight
        As of ``LayersInPipeline``.
    staleness : sequence of int
        As of ``OlderWeightsGnn``: it does not rise from layer to layer.
    """

    def __init__(self, model: InitialModel, rank: int, runs: Sequence[range],
                 in_flight: Sequence[int], staleness: Sequence[int]) -> None:
        super().__init__(model, rank, runs, in_flight, staleness)
        #: By how many updates all weights here are late, at least.
        self._late = min(staleness[number - 1] for number in self._own)
        #: Updates done.
        self._done = model.state.step

    def step(self, samples: Sequence[Sample]) -> Actions[Trained]:
        self._done += 1
        return (yield from super().step(samples))

    def load_state(self, state: TrainingState) -> Actions[None]:
        self._done = state.step
        yield from super().load_state(state)

    def train(self, steps: Iterator[Sequence[Sample]], sizes: Sequence[int]) -> Actions[Trained]:
        found = Trained(no_metrics(self.sample), 0)
        together = min(max(_TOGETHER - self._done, 0), len(sizes))
        for _ in range(together):
            found |= yield from self.step(next(steps))
        if sizes[together:]:
            found |= yield from self._train_through(steps, sizes[together:])
        return found

    def _train_through(self, steps: Iterator[Sequence[Sample]],
                       sizes: Sequence[int]) -> Actions[Trained]:
        """Steps that overlap: each begins while the step before is under way.

        A board's exponents are its own: exponents of its tensors follow its results in the step
        before, and others come with the rows. So boards need not wait for each other.

        Parameters
        ----------
        steps : iterator of sequence of Sample
            The micro-batches of each.
        sizes : sequence of int
            How many each step has: as many as the first one, but for the last.
        """
        first, entries = self._done, (yield from ReadEntries())
        places = [(step, place) for step, size in enumerate(sizes) for place in range(size)]
        # A step's first pass needs the update that is so many steps before its last.
        in_flight = min(self._in_flight, self._late * sizes[0] + 1)
        under_way: dict[int, _Step] = {}
        samples: Sequence[Sample] = ()
        metrics, saturations = no_metrics(self.sample), 0
        for forward, unit in one_forward_one_backward(in_flight, len(places)):
            step, place = places[unit]
            last = place == sizes[step] - 1
            if forward:
                if place == 0:
                    samples = next(steps)
                    exponent = max(sample.edge_exponent for sample in samples)
                    yield from Begin(raises=False)
                    weights = yield from self._versions.begin()
                    under_way[step] = _Step(dict(entries), weights or {})
                now = under_way[step]
                passes = yield from self._pass(Forward(
                    unit, samples[place].with_edge_exponent(exponent), step=first + step,
                    entries=dict(entries), weights=now.weights))
                self._keep(now, passes, forward=True)
                if last:
                    entries |= now.left(True)
                continue
            now = under_way[step]
            found = {name: entry for name, entry in entries.items() if self._of_backward(name)}
            if place == 0:
                now.begun |= found
            passes = yield from self._pass(Backward(unit, found))
            self._keep(now, passes, forward=False)
            sums = replace(passes.sums(), entries={})
            now.sums = sums if now.sums is None else now.sums + sums
            if last:
                entries |= now.left(False)
                metrics = metrics + now.sums.metrics
                saturations += now.sums.saturations + (yield from self._update(now, entries))
                done = under_way.pop(step)
        own = {**done.opened[True], **done.opened[False]} | {
            name: entries[name] for name in self._entries_of(done.weights)} | {
            EDGES: (exponent, None), FEATURES: (self.sample.features.exponent, None)}
        opened = yield from self._totals.entries(own)
        yield from WriteEntries({**entries, **opened})
        yield from End()
        return (yield from self._sum_up(metrics, saturations))

    def _keep(self, step: _Step, passes: Passes, *, forward: bool) -> None:
        """Keep what a pass of a micro-batch has left of exponents."""
        opened = step.opened[forward]
        for name, (exponent, peak) in passes.opened.items():
            if forward or self._of_backward(name):
                peaks = [one for one in (peak, opened.get(name, (0, None))[1]) if one is not None]
                opened[name] = exponent, max(peaks, default=None)
        kind, layer = (Kind.HIDDEN, self._own[0] - 1) if forward else (
            Kind.GRADIENT, self._own[-1])
        name = Tensor(kind, layer)
        if layer and name not in opened and name not in step.opened[True]:
            step.received[forward][name] = passes.exponent(name), None

    def _update(self, step: _Step, entries: Entries) -> Actions[int]:
        """Update this board's parameters, and their ``entries``; how many saturated."""
        assert step.sums is not None
        saturations = yield from Update(replace(
            step.sums, saturations=0,
            entries={**entries, **step.left(True), **step.left(False)}), step.begun)
        self._done += 1
        yield from self._versions.end()
        updated = yield from ReadEntries()
        entries |= {name: updated[name] for name in self._entries_of(step.weights)}
        return saturations

    def _entries_of(self, weights: Mapping[Tensor, Older]) -> set[Tensor]:
        """Entries of parameters."""
        return {self._network.exponent_entry(name) for name in weights}

    def _of_backward(self, name: Tensor) -> bool:
        """Whether an entry is opened on the way back; the loss is at the end of the way there."""
        return name.kind in BACKWARD and name != Tensor(
            Kind.GRADIENT, len(self._network.layers))
