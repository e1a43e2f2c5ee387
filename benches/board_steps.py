# SPDX-License-Identifier: BSD-2-Clause
"""Seconds of a step on the virtual clocks of boards, without the numbers that it computes.

The clocks are the same as in a training. A board's actions in a step are recorded while it trains a
tiny graph. Then each board does the same with its part of a large graph, or with its samples: it
computes, its rows cross, and sums are added up.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse

from hypercast.benches.clock_group import Action, Recorder, on_clocks
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.division import Division
from hypercast.host.processes.group import Group
from hypercast.host.processes.timed_group import TimedGroup
from hypercast.host.processes.virtual_time import VirtualTime
from hypercast.host.runtime.epochs import Epochs
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schemes.board_devices import BoardDevices
from hypercast.host.schemes.graph_in_parallel import GraphInParallel
from hypercast.host.schemes.graph_parts import parts_of
from hypercast.host.schemes.halo_exchange import HaloExchange
from hypercast.host.schemes.layer_seconds import layer_seconds
from hypercast.host.schemes.part_rows import PartRows
from hypercast.host.schemes.samples_in_parallel import SamplesInParallel
from hypercast.host.schemes.worker import Worker
from hypercast.reference.array_types import SparseArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.judge import Judge
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Mantissas, Sample
from hypercast.rtl.isa import Split

__all__ = ["LostTime", "graph_step", "lost_time", "of_layers", "samples_step", "without_values"]

#: Vertices of the tiny graph, a ring.
_TINY = 16


def without_values(network: Network, width: int, *matrices: SparseArray) -> Sample:
    """A sample whose vertices and edges alone count.

    Parameters
    ----------
    network : Network
        The network that is trained.
    width : int
        Bits of an element.
    *matrices : scipy.sparse array
        The edges of all layers, or of each.
    """
    edges = matrices if len(matrices) > 1 else matrices * len(network.layers)
    sources, targets = edges[0].shape[1], edges[-1].shape[0]
    return Sample(
        edges=edges, edge_exponent=0, edge_error=0.0, root_weight=0, element_width=width,
        features=Mantissas(scipy.sparse.csr_array((sources, network.features), dtype=np.int64), 0),
        labels=np.zeros(targets, dtype=np.int64), loss_weights=np.zeros(targets, dtype=np.int64),
        splits=np.full(targets, Split.TRAIN, dtype=np.int64), loss_unit=1.0)


def of_layers(sample: Sample, layers: int) -> Sample:
    """A sample with the same edges for so many layers."""
    return replace(sample, edges=sample.edges[:1] * layers)


class LostTime(NamedTuple):
    """Where the time of a step goes, each as a share of it.

    Attributes
    ----------
    computing : float
        The busiest board computes.
    rows : float
        Rows of others cross, or boards wait for each other, and nothing hides it.
    sums : float
        Sums and maxima of all boards are made.
    """

    computing: float
    rows: float
    sums: float


def lost_time(time: VirtualTime) -> LostTime:
    """Where the time of the last of some steps goes, which is like the others."""
    seconds = time.seconds / time.steps
    computing = max(time.computed) / time.steps
    sums = sum(one.end - one.begin for one in time.intervals
               if one.name == "sum" and one.track.startswith(f"{time.boards[0]},"))
    return LostTime(computing / seconds, (seconds - computing - sums) / seconds, sums / seconds)


def graph_step(network: Network, whole: Sample, parts: Sequence[Sample],
               cluster: Cluster) -> VirtualTime:
    """The ``VirtualTime`` of a step of a graph in parallel, but for the first one.

    Parameters
    ----------
    network : Network
        The network that is trained, with its orders of products.
    whole : Sample
        The graph, whose edges lead both ways.
    parts : sequence of Sample
        Each board's part of it, as of ``parts_of``; or the graph alone.
    cluster : Cluster
        The boards.
    """
    whole, *parts = (of_layers(one, len(network.layers)) for one in (whole, *parts))
    actions = _record(network, whole.element_width, _graph_device)
    alone = sum(map(sum, layer_seconds(network, cluster, adam=False)(whole, 0)))

    def step(group: TimedGroup) -> None:
        group.divide(alone)
        part = parts[group.rank]
        rows_here = part.rows_here
        sent = {}
        if isinstance(rows_here, PartRows) and isinstance(rows_here.others, HaloExchange):
            sent = rows_here.others.sent_rows(transposed=False)
        for action in actions:
            if action.kind == "exchange":
                group.exchange({board: np.broadcast_to(np.int8(0), (rows, action.size))
                                for board, rows in sent.items()}, {})
            else:
                _act(group, action, part)

    return _time(network, cluster, len(parts), step)


def samples_step(network: Network, samples: Sequence[Sequence[Sample]],
                 cluster: Cluster) -> VirtualTime:
    """The ``VirtualTime`` of a step of samples in parallel.

    Parameters
    ----------
    network, cluster
        As of ``graph_step``.
    samples : sequence of sequences of Sample
        For each board, the samples that it takes.
    """
    width = cluster.boards[0].config.element_width
    actions = _record(network, width, _samples_device)
    passes = [action for action in actions if action.kind == "compute"]
    last = actions[len(passes):]

    def step(group: TimedGroup) -> None:
        for sample in samples[group.rank]:
            for action in passes:
                _act(group, action, sample)
        for action in last:
            _act(group, action, samples[0][0])

    return _time(network, cluster, len(samples), step)


def _act(group: TimedGroup, action: Action, sample: Sample) -> None:
    if action.kind == "compute":
        group.compute(sample, action.layers, forward=action.forward)
    else:
        reduced = group.sum if action.kind == "sum" else group.maximum
        reduced(np.zeros(action.size // 8, dtype=np.int64))


def _time(network: Network, cluster: Cluster, boards: int,
          step: Callable[[TimedGroup], None]) -> VirtualTime:
    seconds = layer_seconds(network, cluster, adam=False)

    def run(group: Group) -> VirtualTime | None:
        timed = TimedGroup(group, cluster, seconds)
        timed.begin_step()
        step(timed)
        timed.end_step()
        return timed.time()

    time = on_clocks(boards, run)[0]
    assert time
    return time


def _record(network: Network, width: int,
            device: Callable[[InitialModel, Recorder], TrainingDevice],
            ) -> list[Action]:
    """A board's actions in its second step: in the first one, features cross, too."""
    vertex = np.arange(_TINY)
    ring = scipy.sparse.csr_array(
        (np.full(3 * _TINY, 1 / 3), (np.tile(vertex, 3), np.concatenate(
            [vertex, (vertex + 1) % _TINY, (vertex - 1) % _TINY]))), shape=(_TINY, _TINY))
    features = np.random.default_rng(0).random((_TINY, network.features))
    model = InitialModel.of(network, Recipe(element_width=width), ring, features,
                            vertex % network.classes, np.full(_TINY, Split.TRAIN))
    recorder = Recorder()
    trained = device(model, recorder)
    for _ in range(2):
        trained.train_step()
    return recorder.actions


def _graph_device(model: InitialModel, group: Group) -> Worker:
    halves = Division.count(model.sample.edges[0], np.arange(_TINY) * 2 // _TINY, 2)
    own = model.with_sample(next(parts_of(model.sample, halves)))
    return Worker(BoardDevices().of_rows(own, group), GraphInParallel(own, 0), group)


def _samples_device(model: InitialModel, group: Group) -> Worker:
    def judge() -> Judge:
        raise NotImplementedError

    return Worker(ReferenceDevice(model), SamplesInParallel(model, 0, [1, 1]), group,
                  Epochs(_Same(model.sample), judge, 2))


class _Same:
    """Two samples in an epoch, which are the same."""

    def __init__(self, sample: Sample) -> None:
        self.first = sample

    def __len__(self) -> int:
        return 2

    def epoch(self, number: int, numbers: Sequence[int] | None = None) -> Iterator[Sample]:
        return (self.first for _ in numbers or range(2))
