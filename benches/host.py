# SPDX-License-Identifier: BSD-2-Clause
"""Speed at which the host makes mini-batches, and how many threads keep the device from waiting.

Speeds are of the processor's time, so that other work of the machine matters less. So is the number
of threads: the time of them all for a batch, over the time of a step. GraphSAINT's subgraphs come
again: each is drawn, and its messages compiled, once in a training. PyTorch Geometric, where it is
installed, and a sampler made of array operations sample the same graph in the same run. Edges count
as looked at if a sampler has to read them: of GraphSAINT, all edges of a subgraph's vertices.
"""

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from hypercast.benches.figure import Figure
from hypercast.benches.study.traffic import PCIE
from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.messages import Messages
from hypercast.host.cycle_model.orders import choose_orders
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.files.kept_values import KeptValues
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_arguments import graph_arguments
from hypercast.host.graphs.parallel_edges import Parallel
from hypercast.host.graphs.sampling.draws import EdgeDraw, NodeDraw, RandomWalkDraw
from hypercast.host.graphs.sampling.minibatch import MiniBatch
from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.graphs.sampling.prefetch import prefetch
from hypercast.host.graphs.sampling.saint import SaintSampler, Subgraph
from hypercast.host.graphs.sampling.samples import SampleMaker
from hypercast.reference.array_types import IntArray, SparseArray
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.rtl.config import PRESETS

__all__ = ["run"]

_CONFIG = PRESETS["vcu128"]
#: Cycles per second, assumed: no board has run yet.
_CLOCK = 250e6
#: Vertices and edges, both directions counted; degrees fall with the root of the rank.
_VERTICES, _EDGES = 1_000_000, 10_000_000
#: Of the network: Reddit's features and classes.
_WIDTHS = (602, 128, 41)
#: Of neighbour sampling, from the last layer down.
_TARGETS, _FAN_OUTS = 1_024, (10, 25)
#: Draws of GraphSAINT's samplers, for subgraphs of about 2,750 vertices.
_NODES, _ENDS, _ROOTS, _LENGTH = 2_800, 1_400, 950, 2
#: How often a vertex is in the pool of subgraphs: too rarely to train, but the speed is the same.
_COVERAGE = 0.2
#: Edges per second demanded of a thread, and most threads for which the device may not wait.
_BAR, _MOST_THREADS = 10_000_000, 8
#: For how many seconds the same is measured again: machines are slower for parts of a second.
_SECONDS = 3.0
#: Batches that are measured.
_BATCHES = 40
_THREADS = os.cpu_count() or 1


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used."""
    progress("building the graph")
    graph = _graph()
    targets = np.arange(0, _VERTICES, 2)
    matrix = graph.normalise("mean")
    neighbour = NeighbourSampler(matrix, targets, _FAN_OUTS, batch_size=_TARGETS)
    figures = [Figure(name="graph: vertices", value=graph.vertices),
               Figure(name="graph: edges, both directions", value=graph.edges.nnz)]
    figures += _case("neighbour sampling", graph, _Neighbours(neighbour), progress)
    figures += _others(graph, matrix, targets, neighbour, progress)
    for kind, draw in (("node", NodeDraw(matrix, _NODES)), ("edge", EdgeDraw(matrix, _ENDS)),
                       ("random-walk", RandomWalkDraw(matrix, _ROOTS, _LENGTH))):
        title = f"GraphSAINT {kind} sampling"
        progress(f"{title}: pool")
        start = time.process_time()
        sampler, again = (SaintSampler(matrix, draw, layers=len(_WIDTHS) - 1, coverage=_COVERAGE,
                                       kept=kept)
                          for kept in (None, KeptValues[Subgraph](0, 0)))
        pooled = (time.process_time() - start) / (sampler.pool + again.pool)
        figures += _case(title, graph, _Subgraphs(again, matrix), progress,
                         kept=_Subgraphs(sampler, matrix))
        figures.append(Figure(name=f"{title}: sampling in advance, 1 thread", value=1 / pooled,
                              unit="subgraphs/s"))
    return figures


def _graph() -> Graph:
    generator = np.random.default_rng(0)
    ends = (_VERTICES * generator.random(_EDGES)**2).astype(np.int64)
    pairs = generator.permutation(_VERTICES)[ends].reshape(-1, 2)
    # Features stay on the board: the host's work with them is not measured here.
    return Graph(**graph_arguments(pairs, scipy.sparse.csr_array((_VERTICES, _WIDTHS[0])),
                                   np.zeros(_VERTICES, dtype=np.int64), train=[0],
                                   parallel=Parallel.SET))


class _Neighbours:
    """A ``NeighbourSampler``, and the edges that it looks at."""

    def __init__(self, sampler: NeighbourSampler | SaintSampler) -> None:
        self._sampler = sampler
        self.batch, self.heaviest = sampler.batch, sampler.heaviest

    def __len__(self) -> int:
        return len(self._sampler)

    def count_visits(self, batch: MiniBatch) -> int:
        """Edges that are drawn, and loops."""
        return sum(matrix.nnz for matrix in batch.matrices)


class _Subgraphs(_Neighbours):
    """A ``SaintSampler``, and the edges that it looks at."""

    def __init__(self, sampler: SaintSampler, matrix: SparseArray) -> None:
        super().__init__(sampler)
        self._degrees = np.diff(matrix.indptr)

    def count_visits(self, batch: MiniBatch) -> int:
        """All edges towards the vertices, and loops."""
        return int(self._degrees[batch.targets].sum())


def _case(title: str, graph: Graph, sampler: _Neighbours,
          progress: Callable[[str], None], kept: _Neighbours | None = None) -> list[Figure]:
    """A sampler's sizes and speeds, and its batches on the device.

    ``kept`` samples a pool, as trainings do: drawn subgraphs and their compiled messages are kept.
    """
    progress(title)
    kept = kept or sampler
    count = min(_BATCHES, len(sampler))
    network = Network.of_widths(_WIDTHS)
    make = SampleMaker(network, Recipe(), graph, sampler)
    batches, sampling = _processor_time(sampler.batch, ((0, number) for number in range(count)))
    samples, rounding = _processor_time(make, ((batch,) for batch in batches))
    chosen = [choose_orders(Workload.of_batch(sample.edges, network, _CONFIG))
              for sample in samples[:3]]
    step = float(np.median([predict(workload).cycles for workload in chosen])) / _CLOCK
    network = chosen[0].network
    compiled, compiling = _processor_time(
        _compile, ((network, sample) for sample in samples))
    store = KeptValues[CompiledEdges]()

    def whole(number: int) -> CompiledEdges:
        batch = kept.batch(0, number)
        sample = make(batch)
        return _compile(network, sample) if batch.number is None else \
            store.value_of(batch.number, partial(_compile, network, sample))

    (first, _), (busy, together) = _times(whole, count), _least_times(whole, count)
    looked_at, sent = sum(map(sampler.count_visits, batches)), sum(map(_count_sent, compiled))
    octets = float(np.median([_octets(edges) for edges in compiled]))
    return [
        Figure(name=f"{title}: vertices of the input",
               value=float(np.median([len(batch.inputs) for batch in batches]))),
        Figure(name=f"{title}: edges and loops looked at", value=looked_at / count),
        Figure(name=f"{title}: edges and loops sent, of all matrices", value=sent / count),
        Figure(name=f"{title}: sampling, 1 thread", value=looked_at / count / sampling,
               unit="edges/s", bar=_BAR),
        Figure(name=f"{title}: messages compiled, 1 thread", value=sent / count / compiling,
               unit="edges/s", bar=_BAR),
        Figure(name=f"{title}: sampling, 1 thread", value=sampling * 1e3, unit="ms/batch"),
        Figure(name=f"{title}: rounding of edge weights, 1 thread", value=rounding * 1e3,
               unit="ms/batch"),
        Figure(name=f"{title}: messages compiled, 1 thread", value=compiling * 1e3,
               unit="ms/batch"),
        Figure(name=f"{title}: all of it the first time, processor time of {_THREADS} threads",
               value=first * 1e3, unit="ms/batch"),
        Figure(name=f"{title}: all of it, {_THREADS} threads", value=together * 1e3,
               unit="ms/batch"),
        Figure(name=f"{title}: all of it, processor time of {_THREADS} threads",
               value=busy * 1e3, unit="ms/batch"),
        Figure(name=f"{title}: modelled step of vcu128, {'-'.join(map(str, _WIDTHS))}",
               value=step * 1e3, unit="ms/batch"),
        Figure(name=f"{title}: threads for which the device would not wait",
               value=busy / step, unit="threads", bar=_MOST_THREADS,
               relation="<="),
        Figure(name=f"{title}: edges and send lists for the board", value=octets / 1e6,
               unit="MB/batch"),
        Figure(name=f"{title}: their time on PCIe Gen3 x4", value=octets / PCIE * 1e3,
               unit="ms/batch")]


def _processor_time(function: Callable[..., Any],
                    arguments: Iterable[tuple[Any, ...]]) -> tuple[list[Any], float]:
    """Results of calls, and the mean of the processor time of each in s.

    All are made several times: the least time counts, as other processes only add to it.
    """
    arguments = list(arguments)
    function(*arguments[0])  # the first call is slower
    least, end = math.inf, time.monotonic() + _SECONDS
    while time.monotonic() < end or least == math.inf:
        start = time.process_time()
        results = [function(*each) for each in arguments]
        least = min(least, time.process_time() - start)
    return results, least / len(arguments)


def _times(function: Callable[[int], Any], count: int) -> tuple[float, float]:
    """Mean processor time of a result, and time from one to the next, in s, with all threads."""
    busy, start = time.process_time(), time.perf_counter()
    for _ in prefetch(function, range(count), workers=_THREADS):
        pass
    return (time.process_time() - busy) / count, (time.perf_counter() - start) / count


def _least_times(function: Callable[[int], Any], count: int) -> tuple[float, float]:
    """``_times``, the least of several."""
    end = time.monotonic() + _SECONDS
    found = [_times(function, count)]
    while time.monotonic() < end:
        found.append(_times(function, count))
    return min(found)


def _compile(network: Network, sample: Sample) -> CompiledEdges:
    return CompiledEdges.of(network, sample.edges, sample.root_weight, _CONFIG, symmetric=False)


def _messages(compiled: CompiledEdges) -> list[Messages]:
    return [messages for matrix in compiled.matrices for _, messages in matrix.strips]


def _count_sent(compiled: CompiledEdges) -> int:
    """Edges of all matrices, forward and backward."""
    return sum(int(messages.edges.sum()) for messages in _messages(compiled))


def _octets(compiled: CompiledEdges) -> int:
    """Bytes of edge sets and send lists of all cores."""
    return sum(words.nbytes for messages in _messages(compiled)
               for words in (*messages.edge_sets, *messages.send_lists))


def _others(graph: Graph, matrix: SparseArray, targets: IntArray, sampler: NeighbourSampler,
            progress: Callable[[str], None]) -> list[Figure]:
    """Batches of other samplers, drawn in turn with ours."""
    figures = []
    for title, name, batches in (
            ("NeighborLoader", "PyTorch Geometric's NeighborLoader", _loader(graph, targets)),
            ("SciPy", "a sampler of SciPy and NumPy", _scipy_batches(matrix, targets))):
        installed = batches is not None
        if title == "NeighborLoader":
            figures.append(Figure(name=f"{name}: installed, with pyg-lib or torch-sparse",
                                  value=int(installed)))
        if not installed:
            continue
        progress(f"neighbour sampling by {name}")
        ours: list[float] = []
        theirs: list[float] = []
        loaded = iter(batches)
        next(loaded), sampler.batch(1, 0)
        for number in range(_BATCHES):
            for times, make in ((ours, partial(sampler.batch, 1, number)),
                                (theirs, partial(next, loaded))):
                start = time.process_time()
                make()
                times.append(time.process_time() - start)
        figures += [Figure(name=f"neighbour sampling by {name}", unit="ms/batch",
                           value=float(np.mean(theirs)) * 1e3),
                    Figure(name=f"neighbour sampling, 1 thread / {title}",
                           value=float(np.mean(theirs) / np.mean(ours)), unit="x")]
    return figures


def _scipy_batches(matrix: SparseArray, targets: IntArray) -> Iterator[Any]:
    """Batches without end by array operations: of rows in random order, the first entries."""
    generator = np.random.default_rng(0)
    while True:
        vertices = generator.choice(targets, _TARGETS, replace=False)
        layers = []
        for fan_out in _FAN_OUTS:
            part = matrix[vertices]
            row = np.repeat(np.arange(len(vertices)), np.diff(part.indptr))
            order = np.lexsort((generator.random(part.nnz), row))
            kept = order[np.arange(part.nnz) - part.indptr[row] < fan_out]
            row, ends = row[kept], part.indices[kept]
            new = np.setdiff1d(ends, vertices)
            place = np.empty(matrix.shape[1], dtype=np.int32)
            sources = np.concatenate([vertices, new])
            place[sources] = np.arange(len(sources))
            layers.append(scipy.sparse.csr_array(
                (part.data[kept], (row, place[ends])), shape=(len(vertices), len(sources))))
            vertices = sources
        yield layers


def _loader(graph: Graph, targets: IntArray) -> Any:
    """A NeighborLoader without features or labels to collect; None if it is not installed."""
    try:
        import torch
        from torch_geometric.data import Data
        from torch_geometric.loader import NeighborLoader
        from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE
    except ImportError:
        return None
    if not (WITH_PYG_LIB or WITH_TORCH_SPARSE):
        return None
    torch.set_num_threads(1)
    edges = graph.edges.tocoo()
    data = Data(num_nodes=graph.vertices, edge_index=torch.from_numpy(
        np.stack([edges.coords[1], edges.coords[0]]).astype(np.int64)))
    return NeighborLoader(data, num_neighbors=list(_FAN_OUTS), batch_size=_TARGETS, shuffle=True,
                          input_nodes=torch.from_numpy(targets))
