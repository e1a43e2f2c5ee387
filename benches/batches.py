# SPDX-License-Identifier: BSD-2-Clause
"""Trainings on samples, on the simulated chip: features stay, and lists come while a step runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from hypercast.benches.figure import Figure
from hypercast.benches.steps import synthetic_graph
from hypercast.host.compiler.compiler import compile_job, with_sample
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import random_split
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.comparison import Comparison, compare
from hypercast.host.runtime.image import count_blocks, memory_stripes
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.schemes.sample_source import SampleSource
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.rtl.config import Config
from hypercast.sim.cxxrtl_transport import CxxrtlTransport

__all__ = ["CONFIG", "SAMPLERS", "WIDTHS", "run", "sampled_graph"]

CONFIG = Config(dimensions=4, lanes=4, planes=4, eject=1, accumulator_rows=512, weight_rows=4096,
                 channel_words=65536, operand_words=16384, edge_buffer=16, program_rows=2048,
                 memory_latency=64, memory_stalls=True, read_buffer=128)
#: Vertices and undirected edges; features, hidden features and classes.
_VERTICES, _EDGES, WIDTHS = 24_000, 120_000, (48, 32, 8)
#: Steps that are simulated; batches of neighbours and of GraphSAINT's subgraphs.
_STEPS = 8
SAMPLERS = {
    "neighbours": Sampling(sampler="neighbours", batch=256, fan_outs=(5, 5)),
    "GraphSAINT, nodes": Sampling(sampler="nodes", batch=4000, coverage=3.0),
}
_ORDERS = {"aggregate first in both layers": AGGREGATE_FIRST,
           "combine first above": (AGGREGATE_FIRST, COMBINE_FIRST)}
#: Error of the cycle model, of all batches together, and share of cycles in which no program runs.
_ERROR, _WAITING = 0.05, 0.05


@dataclass
class _Found:
    """Costs of a training, and its comparisons.

    Attributes
    ----------
    words : Comparison
        Words that were compared after every step.
    cycles, predicted : list of int
        Cycles of each step, measured and by the cycle model.
    passed : int
        Cycles from the first step's end to the last one's: the first batch has no step before it,
        during which it could be brought.
    """

    words: Comparison = field(default_factory=Comparison)
    cycles: list[int] = field(default_factory=list)
    predicted: list[int] = field(default_factory=list)
    passed: int = 0


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used."""
    graph = sampled_graph()
    figures = []
    for name, sampling in SAMPLERS.items():
        for order_name, orders in _ORDERS.items():
            label = f"{name}, {order_name}"
            progress(label)
            figures += [Figure(name=f"{label}: {one.name}", value=one.value, unit=one.unit,
                               bar=one.bar, relation=one.relation)
                        for one in _figures(graph, sampling, orders, progress)]
    return figures


def sampled_graph() -> Graph:
    """The graph that batches are of."""
    graph = synthetic_graph(_VERTICES, _EDGES, WIDTHS[0], WIDTHS[-1])
    return graph.with_splits(**random_split(graph.labels, seed=0))


def _figures(graph: Graph, sampling: Sampling, orders: str | Sequence[str],
             progress: Callable[[str], None]) -> list[Figure]:
    network = Network.of_widths(WIDTHS, orders=orders)
    recipe = Recipe(element_width=CONFIG.element_width)
    source = SampleSource(graph, network, recipe, sampling, progress=progress)
    samples = [source.first, *source.epoch(0, range(1, _STEPS))]
    capacity = Capacity.of(samples)
    model = InitialModel.of(network, recipe, samples[0])
    gathered, resident = (
        compile_job(model, CONFIG, capacity=capacity, ahead=True, resident=stays)
        for stays in (False, True))
    found = _train(model, resident, samples, progress)
    error = sum(found.predicted) / sum(found.cycles) - 1
    worst = max(abs(predicted / cycles - 1)
                for predicted, cycles in zip(found.predicted, found.cycles, strict=True))
    before, after = (_count_brought(job, samples) for job in (gathered, resident))
    return [
        Figure(name=f"words equal, of {found.words.words}", value=found.words.equal,
               bar=found.words.words, relation="="),
        Figure(name=f"cycles of a step: simulated {np.mean(found.cycles):.0f}, predicted "
                    f"{np.mean(found.predicted):.0f}; error", value=abs(error), bar=_ERROR,
               relation="<="),
        Figure(name="the same of the batch that is predicted worst", value=worst),
        Figure(name="share of cycles in which the chip waits: for a batch, or for anything else "
                    "that the host does between steps",
               value=1 - sum(found.cycles) / found.passed, bar=_WAITING, relation="<="),
        Figure(name="values of 32 bits that the host writes for a batch", value=round(after)),
        Figure(name="the same if a batch brings its features", value=round(before)),
    ]


def _train(model: InitialModel, job: Job, samples: Sequence[Sample],
           progress: Callable[[str], None]) -> _Found:
    """Train on each of the samples, on the chip and on the reference."""
    found, reference = _Found(), ReferenceDevice(model)
    transport = CxxrtlTransport(CONFIG, bulk=True, progress=progress)
    chip = AloneChip(transport, job, model)
    try:
        for number, sample in enumerate(samples):
            progress(f"batch {number + 1} of {len(samples)}")
            reference.take(sample)
            reference.train_step()
            begun = transport.cycle
            chip.take(sample, *samples[number + 1:number + 3])
            before = chip.train_cycles
            chip.train_step()
            if number:
                found.passed += transport.cycle - begun
                found.cycles.append(chip.train_cycles - before)
                found.predicted.append(_predict(model, sample, [*samples, sample][number + 1]))
            found.words.add(compare(reference.snapshot(), chip.snapshot(), CONFIG.lanes))
    finally:
        chip.close()
    return found


def _predict(model: InitialModel, sample: Sample, following: Sample) -> int:
    """Cycles of a step on a sample that aggregates the input features of another one."""
    return predict(Workload.of_batch(
        [following.edges[0], *sample.edges[1:]], model.network, CONFIG, pipelined=True,
        resident=True)).cycles


def _count_brought(job: Job, samples: Sequence[Sample]) -> float:
    """Values of 32 bits that are written for a batch, in the mean."""
    def values(coming: Job) -> int:
        counts = sum(len(block.words) for block in count_blocks(coming))
        return counts + sum(stripes.rows().size for stripes in memory_stripes(coming))

    return float(np.mean([values(with_sample(job, sample, following))
                          for sample, following in pairwise(samples)]))
