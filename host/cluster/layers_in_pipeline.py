"""Each board has a run of layers; activations and gradients of micro-batches cross between them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hypercast.host.cluster.balanced_runs import balanced_runs
from hypercast.host.cluster.group import ClusterError, Group
from hypercast.host.cluster.stage import LayerPasses
from hypercast.host.cluster.total import Totals
from hypercast.host.runtime.devices import ReferenceDevice
from hypercast.host.runtime.sampled_device import SampledDevice
from hypercast.host.schedules.turns import one_forward_one_backward
from hypercast.reference.array_types import IntArray
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import LOSS_UNIT, Metrics
from hypercast.reference.network import Network
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import EDGES, FEATURES, Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["LayersInPipeline", "SampledPipeline", "no_metrics", "runs_of_layers"]


def runs_of_layers(network: Network, sample: Sample, boards: int) -> list[range]:
    """The layers of each board, from 1, in order: runs that multiply and add about as much.

    Raises
    ------
    ClusterError
        If there are more boards than layers, or layers that are no chain.
    """
    layers = len(network.layers)
    if boards > layers:
        raise ClusterError(f"{boards} boards share {layers} layers, but each needs one; take "
                           f"{layers} boards or fewer, or deepen the network by --layers")
    if network.jumping:
        raise ClusterError("layers in a pipeline have the outputs of one layer as their inputs, "
                           "but with jumping knowledge the last one has those of all; leave "
                           "--jumping out, or take another --scheme")
    costs = [rows * layer.features_in * layer.features_out + edges.nnz * layer.features_out
             for rows, layer, edges in zip(
                 sample.rows[1:], network.layers, sample.edges, strict=True)]
    return [range(run.start + 1, run.stop + 1) for run in balanced_runs(costs, boards)]


class LayersInPipeline(ReferenceDevice):
    """One of several devices that train together, each a run of layers, synchronously.

    Micro-batches of a step follow each other through the boards, one forward, one backward. Each
    board updates the parameters of its own layers when all of them have passed. What a step
    computes is what one board computes of the same micro-batches.

    Parameters
    ----------
    model : InitialModel
        The whole model, the same on all ranks.
    group : Group
        The ranks, in the order of their layers.
    runs : sequence of range
        The layers of each, from 1; those of ``runs_of_layers`` if none are given.
    in_flight : sequence of int
        Micro-batches that each has begun and not done, at most; as many as there are ranks from it
        on, if none are given.
    """

    #: What all ranks have to do at the same time.
    TOGETHER = frozenset({"train_step", "evaluate", "logits", "state", "load_state"})

    def __init__(self, model: InitialModel, group: Group, runs: Sequence[range] = (),
                 in_flight: Sequence[int] = ()) -> None:
        super().__init__(model, self._made(model))
        self._group = group
        self._sample = model.sample
        self._totals = Totals(group, model.state, LOSS_UNIT * model.sample.loss_scale)
        runs = runs or runs_of_layers(model.network, model.sample, group.size)
        self._own = runs[group.rank]
        self._in_flight = in_flight[group.rank] if in_flight else group.size - group.rank
        self._evaluated: LayerPasses | None = None

    # What differs where passes take older weights or rows.

    def _made(self, model: InitialModel) -> FixedGnn:
        """What holds the parameters, and updates them."""
        return FixedGnn(model)

    @property
    def _weights(self) -> Mapping[Tensor, Older] | None:
        """What passes of a training step take instead of the newest parameters."""
        return None

    def _turns(self, count: int) -> Iterator[tuple[bool, int]]:
        """In which order micro-batches go forward and back."""
        return one_forward_one_backward(self._in_flight, count)

    def train_step(self, *, record: bool = False) -> Metrics:
        if record:
            raise ValueError("the reference has no timeline to record; train on a simulated chip")
        return self.train_on([self._sample])

    def train_on(self, samples: Sequence[Sample]) -> Metrics:
        """A step on micro-batches, whose edge weights have one exponent."""
        oracle, group = self.oracle, self._group
        group.begin_step()
        self.begin_step()
        begun = oracle.exponents.entries()
        stages: dict[int, LayerPasses] = {}
        found = None
        for forward, number in self._turns(len(samples)):
            if forward:
                stages[number] = LayerPasses(oracle, samples[number], self._own, oracle.step_key,
                                             weights=self._weights)
                self._pass_on(stages[number], forward=True)
                continue
            stage = stages.pop(number)
            self._pass_on(stage, forward=False)
            sums = self._sums(stage)
            found = sums if found is None else found + sums
        assert found is not None
        entries = {**begun, **self._totals.entries(found.entries)}
        before = oracle.saturations.total()
        self.update(StepSums(gradients=found.gradients, entries=entries, metrics=found.metrics,
                             saturations=0))
        group.end_step()
        entry_of = oracle.network.exponent_entry
        entries = oracle.exponents.entries()
        oracle.exponents.load({**entries, **self._totals.entries({
            entry_of(name): entries[entry_of(name)] for name in found.gradients})})
        own = found.saturations + oracle.saturations.total() - before
        self.saturations = int(group.sum(np.array([own]))[0])
        return self._totals.metrics(found.metrics)

    def _pass_on(self, stage: LayerPasses, *, forward: bool) -> None:
        """A pass of a micro-batch, between the stages before and after."""
        group = self._group
        step = 1 if forward else -1
        source, target = group.rank - step, group.rank + step
        rows = group.receive(source) if 0 <= source < group.size else None
        if stage.training:
            group.compute(stage.passes.sample, self._own, forward=forward)
        rows = stage.forward(rows) if forward else stage.backward(rows)
        if 0 <= target < group.size:
            group.send(target, rows)

    def _sums(self, stage: LayerPasses) -> StepSums:
        """What a micro-batch leaves here: of this board's parameters, and entries it opened."""
        passes, sample = stage.passes, stage.passes.sample
        return StepSums(
            gradients={name: gradient.accumulators for name, gradient in passes.gradients.items()},
            entries=passes.opened | {EDGES: (sample.edge_exponent, None),
                                     FEATURES: (sample.features.exponent, None)},
            metrics=stage.metrics or no_metrics(sample),
            saturations=passes.saturations.total())

    def evaluate(self) -> Metrics:
        oracle = self.oracle
        self._evaluated = stage = LayerPasses(oracle, self._sample, self._own, None)
        self._pass_on(stage, forward=True)
        oracle.exponents.load({
            **oracle.exponents.entries(), **self._totals.entries(stage.passes.opened)})
        return self._totals.metrics(stage.metrics or no_metrics(self._sample))

    def logits(self) -> tuple[IntArray, int]:
        last = self._group.size - 1
        if self._group.rank == last:
            assert self._evaluated
            self.oracle.tensors |= self._evaluated.passes.tensors
            found = super().logits()
            if last:
                self._group.send(0, found)
            return found
        received: tuple[IntArray, int] = self._group.receive(last) if self._group.rank == 0 else (
            np.empty((0, 0), dtype=np.int64), 0)
        return received

    def state(self) -> TrainingState:
        """The state of all layers; only the leader has it."""
        own = self.oracle.state()
        found: tuple[dict[Tensor, Any], ...] = (
            own.parameters, own.momentum_exponents, dict(own.versions))
        for parts in self._group.gather(tuple(
                {name: value for name, value in part.items() if name.layer in self._own}
                for part in found)):
            for part, more in zip(found, parts, strict=True):
                part.update(more)
        return replace(own, versions=found[-1])

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
