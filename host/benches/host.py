"""Mini-batches per second that the host makes, and whether the device would wait for them.

Speeds of one thread are of the processor's time, so that what else the machine does matters little;
PyTorch Geometric, where it is installed, samples the same graph in the same run. What all threads
do together is measured by the clock.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hypercast.host.benches.figure import Figure
from hypercast.host.compiler.messages import compile_messages
from hypercast.host.cycle_model.orders import choose_orders
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.sampling.edge import EdgeDraw
from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.graphs.sampling.node import NodeDraw
from hypercast.host.graphs.sampling.prefetch import prefetched
from hypercast.host.graphs.sampling.random_walk import RandomWalkDraw
from hypercast.host.graphs.sampling.saint import SaintSampler
from hypercast.reference.network import Network
from hypercast.reference.quantization import quantize
from hypercast.rtl.config import PRESETS
from hypercast.rtl.placement import rows_of

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
#: Batches that are measured.
_BATCHES = 40
_THREADS = os.cpu_count()


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used."""
    progress("building the graph")
    graph = _graph()
    targets = np.arange(0, _VERTICES, 2)
    matrix = graph.normalised("mean")
    neighbour = NeighbourSampler(matrix, targets, _FAN_OUTS, batch_size=_TARGETS)
    figures = [Figure(name="graph: vertices", value=graph.vertices),
               Figure(name="graph: edges, both directions", value=graph.edges.nnz)]
    figures += _case("neighbour sampling", neighbour, progress)
    figures += _pyg(graph, targets, neighbour, progress)
    for kind, draw in (("node", NodeDraw(matrix, _NODES)), ("edge", EdgeDraw(matrix, _ENDS)),
                       ("random-walk", RandomWalkDraw(matrix, _ROOTS, _LENGTH))):
        title = f"GraphSAINT {kind} sampling"
        progress(f"{title}: pool")
        start = time.process_time()
        sampler = SaintSampler(matrix, draw, layers=len(_WIDTHS) - 1, coverage=_COVERAGE)
        pooled = (time.process_time() - start) / sampler.pool
        figures += _case(title, sampler, progress)
        figures.append(Figure(name=f"{title}: sampling in advance, 1 thread", value=1 / pooled,
                              unit="subgraphs/s"))
    return figures


def _graph():
    generator = np.random.default_rng(0)
    ends = (_VERTICES * generator.random(_EDGES)**2).astype(np.int64)
    pairs = generator.permutation(_VERTICES)[ends].reshape(-1, 2)
    return Graph.from_edges(pairs, np.ones((_VERTICES, 1)), np.zeros(_VERTICES, dtype=np.int64),
                            train=[0])


def _case(title, sampler, progress):
    """A sampler's sizes and speeds, and its batches on the device."""
    progress(title)
    count = min(_BATCHES, len(sampler))
    batches, sampling = _processor_time(sampler.batch, ((0, number) for number in range(count)))
    _, compiling = _processor_time(_compile, ((batch,) for batch in batches))
    together = _wall_time(lambda number: _compile(sampler.batch(0, number)), count)
    step = float(np.median([_step(batch) for batch in batches[:3]]))
    waiting = max(0.0, together - step)
    edges = np.median([sum(matrix.nnz for matrix in _distinct(batch)) for batch in batches])
    return [
        Figure(name=f"{title}: vertices of the input",
               value=float(np.median([len(batch.inputs) for batch in batches]))),
        Figure(name=f"{title}: edges and loops, of all matrices", value=float(edges)),
        Figure(name=f"{title}: sampling, 1 thread", value=1 / sampling, unit="batches/s"),
        Figure(name=f"{title}: messages compiled, 1 thread",
               value=1 / compiling, unit="batches/s"),
        Figure(name=f"{title}: sampling and messages, {_THREADS} threads", value=1 / together,
               unit="batches/s"),
        Figure(name=f"{title}: sampling and messages, {_THREADS} threads", value=together * 1e3,
               unit="ms/batch"),
        Figure(name=f"{title}: modelled step of vcu128, {'-'.join(map(str, _WIDTHS))}",
               value=step * 1e3, unit="ms/batch"),
        Figure(name=f"{title}: the device waits for the host", value=waiting * 1e3,
               unit="ms/batch"),
        Figure(name=f"{title}: threads for which it would not wait",
               value=_THREADS * together / step, unit="threads")]


def _processor_time(function, arguments):
    """Results of calls, and the mean of the processor time of each in s."""
    arguments = list(arguments)
    function(*arguments[0])  # the first call is slower
    start = time.process_time()
    results = [function(*each) for each in arguments]
    return results, (time.process_time() - start) / len(arguments)


def _wall_time(function, count):
    """Mean time between results in s, of calls by all threads."""
    start = time.perf_counter()
    for _ in prefetched(function, range(count), workers=_THREADS):
        pass
    return (time.perf_counter() - start) / count


def _distinct(batch):
    """Matrices to compile: those of the layers, and the last one's for the gradients."""
    layers = {id(matrix): matrix for matrix in batch.matrices}
    return [*layers.values(), batch.matrices[-1].T.tocsr()]


def _compile(batch):
    for matrix in _distinct(batch):
        mantissas, _ = quantize(matrix, _CONFIG.element_width)
        rows = rows_of(0, matrix.shape[0], _CONFIG.cores)
        for first in range(0, max(rows, 1), _CONFIG.accumulator_rows):
            compile_messages(mantissas, _CONFIG, first_row=first, rows=_CONFIG.accumulator_rows)


def _step(batch):
    """Modelled time of a training step in s."""
    matrices = [quantize(matrix, _CONFIG.element_width)[0] for matrix in batch.matrices]
    workload = Workload.of_batch(matrices, Network.of_widths(_WIDTHS), _CONFIG)
    return predict(choose_orders(workload)).cycles / _CLOCK


def _pyg(graph, targets, sampler, progress):
    """Batches of PyTorch Geometric, drawn in turn with ours."""
    title = "neighbour sampling by PyTorch Geometric's NeighborLoader"
    loader = _loader(graph, targets)
    if loader is None:
        return [Figure(name=f"{title}: installed, with pyg-lib or torch-sparse", value=0)]
    progress(title)
    ours, theirs = [], []
    loaded = iter(loader)
    next(loaded), sampler.batch(1, 0)
    for number in range(_BATCHES):
        for times, make in ((ours, lambda n=number: sampler.batch(1, n)),
                            (theirs, lambda: next(loaded))):
            start = time.process_time()
            make()
            times.append(time.process_time() - start)
    return [Figure(name=f"{title}: 1 process", value=float(1 / np.mean(theirs)),
                   unit="batches/s"),
            Figure(name="neighbour sampling, 1 thread / NeighborLoader",
                   value=float(np.mean(theirs) / np.mean(ours)), unit="x")]


def _loader(graph, targets):
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
