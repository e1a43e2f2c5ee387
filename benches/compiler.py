# SPDX-License-Identifier: BSD-2-Clause
"""Speed and memory of the compiler: a large graph, and the sizes of sampled batches.

Time is the processor's, so that other work of the machine matters little; NumPy and SciPy use one
thread for all of this.
"""

import time
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from hypercast.benches.figure import Figure
from hypercast.benches.huge_graph import huge_graph
from hypercast.host.compiler.messages import compile_messages
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_arguments import graph_arguments
from hypercast.host.graphs.parallel_edges import Parallel
from hypercast.host.graphs.rank_order import rank_order
from hypercast.reference.array_types import IntArray, SparseArray
from hypercast.reference.quantization import quantize
from hypercast.rtl.config import Config
from hypercast.rtl.placement import rows_of

__all__ = ["run"]

_CONFIG = Config(dimensions=4, lanes=16, planes=4, accumulator_rows=16384)
#: Vertices and edges, both directions counted, of the large graph.
_VERTICES, _EDGES = 1_000_000, 10_000_000
#: Edges per second demanded of compiling the large graph's messages.
_BAR = 20_000_000
#: Vertices and edges of a batch by subgraph sampling.
_SUBGRAPH = 2_750, 54_510
#: Targets, sources and edges of each layer of a batch by neighbour sampling.
_NEIGHBOURS = (9_000, 102_483, 137_420), (1_024, 9_000, 8_505)
#: How often the large graph is compiled: the least time counts, as other processes only add to it.
_TRIES = 9
#: Batches that times are the median of.
_BATCHES = 9
#: Vertices, edges in both directions and widths of a graph like ogbn-products.
_HUGE = 2_400_000, 124_000_000, (100, 256, 47)
#: Degrees fall with the root of the rank: a power law with exponent 3.
_POWER = 2


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used."""
    return [*_large_graph(progress), *_subgraph_batches(progress), *_neighbour_batches(progress),
            *huge_graph(*_HUGE, _CONFIG, progress)]


class _Stopwatch:
    """Processor time of calls."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, function: Callable[..., Any], *arguments: Any) -> Any:
        start = time.process_time()
        result = function(*arguments)
        self.seconds += time.process_time() - start
        return result


def _ends(vertices: int, count: int, generator: np.random.Generator) -> IntArray:
    """Vertices drawn with a power law, numbered in no particular order."""
    drawn = (vertices * generator.random(count)**_POWER).astype(np.int64)
    return generator.permutation(vertices)[drawn]


def _pairs(vertices: int, edges: int, generator: np.random.Generator) -> IntArray:
    """About ``edges`` edges, both directions counted, as pairs."""
    ends = _ends(vertices, edges, generator)
    return ends.reshape(-1, 2)


def _graph(vertices: int, pairs: IntArray) -> Graph:
    return Graph(**graph_arguments(pairs, np.ones((vertices, 1)),
                                   np.zeros(vertices, dtype=np.int64), train=[0],
                                   parallel=Parallel.SET))


def _rank(graph: Graph) -> Graph:
    return graph.permute(rank_order(graph))


def _weigh(graph: Graph) -> SparseArray:
    return quantize(graph.normalise("symmetric"), _CONFIG.element_width)[0]


def _compile(matrix: SparseArray) -> int:
    """All strips of a matrix; returns the number of edges compiled."""
    rows = rows_of(0, matrix.shape[0], _CONFIG.cores)
    return sum(
        int(compile_messages(matrix, _CONFIG, first_row=first,
                             rows=_CONFIG.strip_rows).edges.sum())
        for first in range(0, max(rows, 1), _CONFIG.strip_rows))


def _peak(function: Callable[..., object], *arguments: object) -> int:
    """Bytes that a call allocates at most, beyond its arguments."""
    tracemalloc.start()
    function(*arguments)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _large_graph(progress: Callable[[str], None]) -> list[Figure]:
    progress("building the large graph")
    reading, ranking, weighting, compiling = (_Stopwatch() for _ in range(4))
    pairs = _pairs(_VERTICES, _EDGES, np.random.default_rng(0))
    graph = reading(_graph, _VERTICES, pairs)
    graph = ranking(_rank, graph)
    matrix = weighting(_weigh, graph)
    progress("compiling the large graph")
    _compile(matrix[:1000])  # loads the kernels
    tries = []
    for _ in range(_TRIES):
        compiling.seconds = 0.0
        edges = compiling(_compile, matrix)
        tries.append(compiling.seconds)
    compiling.seconds = min(tries)
    progress("measuring the compiler's memory")
    prepared = ranking.seconds + weighting.seconds
    stored = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    title = "large graph: "
    return [
        Figure(name=f"{title}vertices", value=_VERTICES),
        Figure(name=f"{title}edges, both directions", value=graph.edges.nnz),
        Figure(name=f"{title}edges with loops, all compiled", value=edges, bar=matrix.nnz,
               relation="="),
        Figure(name=f"{title}checking and merging a list of edges", value=reading.seconds,
               unit="s"),
        Figure(name=f"{title}ranking", value=ranking.seconds, unit="s"),
        Figure(name=f"{title}normalising and rounding weights", value=weighting.seconds, unit="s"),
        Figure(name=f"{title}messages, planes chosen, and their images", value=compiling.seconds,
               unit="s"),
        Figure(name=f"{title}messages", value=graph.edges.nnz / compiling.seconds,
               unit="edges/s", bar=_BAR),
        Figure(name=f"{title}messages, ranking and weights",
               value=graph.edges.nnz / (compiling.seconds + prepared), unit="edges/s"),
        Figure(name=f"{title}memory of the matrix", value=stored / 1e6, unit="MB"),
        Figure(name=f"{title}peak memory of compiling its messages, besides",
               value=_peak(_compile, matrix) / 1e6, unit="MB"),
        Figure(name=f"{title}peak memory from the list of edges on",
               value=_peak(lambda: _compile(_weigh(_rank(_graph(_VERTICES, pairs))))) / 1e6,
               unit="MB")]


def _median(function: Callable[[Any], object], batches: Iterable[Any]) -> float:
    """Median time in ms of a function that compiles a batch."""
    times = []
    for batch in batches:
        watch = _Stopwatch()
        watch(function, batch)
        times.append(watch.seconds * 1e3)
    return float(np.median(times))


def _subgraph_batches(progress: Callable[[str], None]) -> list[Figure]:
    progress("compiling batches by subgraph sampling")
    vertices, edges = _SUBGRAPH
    graphs = [_graph(vertices, _pairs(vertices, edges, np.random.default_rng(seed)))
              for seed in range(_BATCHES)]
    matrices = [_weigh(_rank(graph)) for graph in graphs]
    title = f"batch by subgraph sampling, {vertices:,} vertices: "
    return [
        Figure(name=f"{title}edges", unit="edges",
               value=float(np.median([graph.edges.nnz for graph in graphs]))),
        Figure(name=f"{title}messages", unit="ms",
               value=_median(_compile, matrices)),
        Figure(name=f"{title}ranking, weights and messages", unit="ms", value=_median(
            lambda graph: _compile(_weigh(_rank(graph))), graphs))]


def _neighbour_layer(targets: int, sources: int, edges: int,
                     generator: np.random.Generator) -> SparseArray:
    """A layer's (targets, sources) matrix, a power law over the sources."""
    entries = (generator.integers(0, targets, edges), _ends(sources, edges, generator))
    values = np.ones(edges, dtype=np.int64)
    return scipy.sparse.coo_array((values, entries), shape=(targets, sources)).tocsr()


def _neighbour_batches(progress: Callable[[str], None]) -> list[Figure]:
    progress("compiling batches by neighbour sampling")
    batches = [[_neighbour_layer(*shape, np.random.default_rng(seed)) for shape in _NEIGHBOURS]
               for seed in range(_BATCHES)]
    inner = "/".join(f"{targets:,}" for targets, _, _ in _NEIGHBOURS)
    title = f"batch by neighbour sampling, {_NEIGHBOURS[0][1]:,}/{inner} vertices: "
    return [
        Figure(name=f"{title}edges", unit="edges",
               value=float(np.median([sum(layer.nnz for layer in batch) for batch in batches]))),
        Figure(name=f"{title}messages, and the last layer's backward", unit="ms", value=_median(
            lambda batch: [_compile(layer) for layer in (*batch, batch[-1].T.tocsr())],
            batches))]
