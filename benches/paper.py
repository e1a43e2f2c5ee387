# SPDX-License-Identifier: BSD-2-Clause
"""Training steps on sampled batches of four large graphs, against HP-GNN: models on both sides.

(a) is HP-GNN as its script configures it, (b) its formulas with our number of MACs and aggregation
lanes, our bandwidth, clock and element width. ``docs/full-size-study.md`` explains both.
"""

import itertools
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hypercast.benches.figure import Figure
from hypercast.benches.study.baseline import HP_GNN, like_ours, step_seconds
from hypercast.benches.study.batch import SAMPLINGS, Batch
from hypercast.benches.study.graphs import GRAPHS, GraphStatistics
from hypercast.benches.study.sampling import ConfigurationModel
from hypercast.benches.study.traffic import PCIE, count_brought, ours, textbook
from hypercast.host.cycle_model.orders import choose_orders
from hypercast.host.cycle_model.prediction import Prediction, predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.reference.network import Network
from hypercast.rtl.config import PRESETS

__all__ = ["BARS", "MEAN_BARS", "run"]

#: Speed-up demanded on every row: the paper's largest, and 1 less the part that perfect overlap
#: ignores.
BARS = {"(a)": 1.81, "(b)": 0.90}
#: Speed-up demanded in the geometric mean of all rows.
MEAN_BARS = {"(b)": 1.10}
_NAMES = {"(a)": "HP-GNN / ours", "(b)": "its formulas with our resources / ours"}
_CONFIG = PRESETS["vcu128"]
#: Cycles per second, assumed: no board has run yet.
_CLOCK = 250e6
_HIDDEN = (128, 256)
#: Real samples: targets and fan-outs, from the last layer down, and vertices of a subgraph.
_TARGETS, _FAN_OUTS, _SUBGRAPH = 1_024, (10, 25), 2_750


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used."""
    figures: list[Figure] = []
    ratios: dict[str, list[float]] = {kind: [] for kind in BARS}
    for (name, graph), (sampling, batch), hidden in itertools.product(
            GRAPHS.items(), SAMPLINGS.items(), _HIDDEN):
        title = f"{name}, {sampling}, {hidden} hidden"
        progress(title)
        widths = (graph.features, hidden, graph.classes)
        workload = choose_orders(Workload.of_statistics(
            batch.vertices, [block.entries for block in batch.blocks], Network.of_widths(widths),
            _CONFIG, sampled=True, pipelined=True, resident=True))
        step = predict(workload)
        figures += _step(title, workload, step)
        for kind, cycles in _baselines(sampling, batch, widths).items():
            named = f"{title}: {kind} {_NAMES[kind]}"
            ratios[kind].append(cycles / step.cycles)
            figures.append(Figure(name=named, value=ratios[kind][-1], unit="x", bar=BARS[kind]))
        figures.append(Figure(
            name=f"{title}: HP-GNN with our {_CONFIG.element_width} bits / ours", unit="x",
            value=step_seconds(batch, widths, replace(
                HP_GNN[sampling], element_bytes=_CONFIG.element_width // 8)) * _CLOCK
            / step.cycles))
        figures += _words(title, workload, step, symmetric=sampling == "subgraph")
        figures += _measure_brought(title, workload, step, symmetric=sampling == "subgraph")
    figures += [Figure(name=f"{kind} geometric mean of {len(values)} rows",
                       value=statistics.geometric_mean(values), unit="x", bar=MEAN_BARS.get(kind))
                for kind, values in ratios.items()]
    for name, graph in GRAPHS.items():
        progress(f"sampling {name}")
        figures += _samples(name, graph)
    return figures


def _baselines(sampling: str, batch: Batch, widths: Sequence[int]) -> dict[str, float]:
    """The time of each of the two, in our cycles."""
    machines = {"(a)": HP_GNN[sampling], "(b)": like_ours(_CONFIG, _CLOCK)}
    return {kind: step_seconds(batch, widths, machine) * _CLOCK
            for kind, machine in machines.items()}


def _step(title: str, workload: Workload, step: Prediction) -> list[Figure]:
    orders = " and ".join(layer.order.replace("_", " ") for layer in workload.network.layers)
    alone = choose_orders(replace(workload, pipelined=False))
    return [
        Figure(name=f"{title}: step, {orders}", value=step.cycles, unit="cycles"),
        Figure(name=f"{title}: step without work on the next batch", value=predict(alone).cycles,
               unit="cycles"),
        Figure(name=f"{title}: most that a resource needs, {step.limit}", value=step.bound,
               unit="cycles"),
        Figure(name=f"{title}: step at {_CLOCK / 1e6:.0f} MHz, assumed",
               value=step.cycles / _CLOCK * 1e3, unit="ms")]


def _words(title: str, workload: Workload, step: Prediction, *,
           symmetric: bool) -> Iterator[Figure]:
    own, book = (traffic(workload, step, symmetric=symmetric) for traffic in (ours, textbook))
    for what in ("moved", "stored"):
        words, more = getattr(own, what), getattr(book, what)
        yield Figure(name=f"{title}: {what}", value=words, unit="words")
        yield Figure(name=f"{title}: {what}, textbook", value=more, unit="words")
        yield Figure(name=f"{title}: {what}, textbook / ours", value=more / words, unit="x")


def _measure_brought(title: str, workload: Workload, step: Prediction, *,
                     symmetric: bool) -> Iterator[Figure]:
    """The bytes that a board would get for each batch, by PCIe."""
    octets = count_brought(workload, symmetric=symmetric) * _CONFIG.word_width / 8
    yield Figure(name=f"{title}: brought by a batch", value=octets / 1e6, unit="MB")
    yield Figure(name=f"{title}: its time on PCIe Gen3 x4 / step",
                 value=octets / PCIE / (step.cycles / _CLOCK))


def _samples(name: str, graph: GraphStatistics) -> Iterator[Figure]:
    """Real samples: their sizes, the speed-ups with these, and a check of expected loads."""
    model = ConfigurationModel(graph.degrees())
    samples = model.neighbours(_TARGETS, _FAN_OUTS)
    first, second = samples
    subgraph = model.subgraph(_SUBGRAPH)
    title = f"{name}, neighbour sample drawn"
    sizes = {
        f"{title}: vertices 2 hops away": first.block.sources,
        f"{title}: vertices 1 hop away": first.block.destinations,
        f"{title}: edges of the first layer": first.block.edges,
        f"{title}: edges of the second layer": second.block.edges,
        f"{name}, subgraph drawn: edges": subgraph.block.edges,
    }
    yield from (Figure(name=what, value=size) for what, size in sizes.items())
    batch = Batch(blocks=tuple(sample.block for sample in samples))
    matrices = [sample.matrix for sample in samples]
    for hidden in _HIDDEN:
        widths = (graph.features, hidden, graph.classes)
        counted = choose_orders(Workload.of_batch(
            matrices, Network.of_widths(widths), _CONFIG, pipelined=True, resident=True))
        step = predict(counted)
        for kind, cycles in _baselines("neighbour", batch, widths).items():
            yield Figure(name=f"{title}, {hidden} hidden: {kind} {_NAMES[kind]}",
                         value=cycles / step.cycles, unit="x")
    expected = Workload.of_statistics(
        batch.vertices, [block.entries for block in batch.blocks], counted.network, _CONFIG)
    real, load = (one.with_orders(expected.orders).loads(1, False)[0]
                  for one in (counted, expected))
    for field, what in (("links", "links"), ("ejected", "ejection ports"),
                        ("arrivals", "aggregators")):
        yield Figure(name=f"{title}: load of {what}, expected / counted",
                     value=getattr(load, field) / getattr(real, field), unit="x")
