# SPDX-License-Identifier: BSD-2-Clause
"""A graph of the size of ogbn-products, from a list of edges to messages, in a process of its own.

So its peak of memory comes from the graph alone.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from hypercast.benches.figure import Figure
from hypercast.benches.measured_part import Part, measure_part
from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.rank_order import rank_order
from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.processes.child_process import in_child_process
from hypercast.reference.array_types import IntArray
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.rtl.config import Config

__all__ = ["draw_pairs", "huge_graph"]

#: Pairs that are drawn at a time.
_DRAWN = 1 << 22
#: Batches of neighbours that are drawn, and vertices and fan-outs of each.
_BATCHES, _TARGETS, _FAN_OUTS = 10, 1_024, (10, 25)
#: GB that all of it may take.
_BAR = 20


def huge_graph(vertices: int, edges: int, widths: tuple[int, ...], config: Config,
               progress: Callable[[str], None]) -> list[Figure]:
    """Time and memory of each part.

    Parameters
    ----------
    vertices, edges : int
        Size of the graph; edges are counted in both directions, before some are merged.
    widths : tuple of int
        Features of the input and of the output of every layer.
    config : Config
        Configuration of the chip.
    progress : callable
        Called with a line of text.
    """
    progress(f"a graph of {edges:,} edges, in a process of its own")
    merged, compiled, parts = next(in_child_process(
        "measures a huge graph", _measure, vertices, edges, widths, config, progress=progress))
    title = "huge graph: "
    figures = [Figure(name=f"{title}vertices", value=vertices),
               Figure(name=f"{title}edges, both directions", value=merged)]
    figures += [Figure(name=f"{title}{part.name}", value=part.seconds, unit="s")
                for part in parts]
    seconds = {part.name: part.seconds for part in parts}
    figures.append(Figure(name=f"{title}messages",
                          value=compiled / seconds[_COMPILING], unit="edges/s"))
    figures += [Figure(name=f"{title}peak memory, {part.name}", value=part.peak, unit="GB")
                for part in parts]
    return [*figures, Figure(name=f"{title}peak memory", value=max(part.peak for part in parts),
                             unit="GB", bar=_BAR, relation="<=")]


_COMPILING = "messages, planes chosen, and their images"


def _measure(vertices: int, edges: int, widths: Sequence[int], config: Config, *,
             progress: Callable[[str], None]) -> Iterator[tuple[int, int, list[Part]]]:
    """Edges, compiled edges, and each part."""
    parts: list[Part] = []

    def timed(name: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        part, result = measure_part(name, function, *arguments, **named)
        parts.append(part)
        return result

    pairs = draw_pairs(vertices, edges // 2)
    features = scipy.sparse.csr_array((vertices, widths[0]))
    labels = np.arange(vertices) % widths[-1]
    targets = np.arange(0, vertices, 2)
    graph = timed("checking and merging a list of edges", Graph.from_edges,
                  pairs, features, labels, train=targets)
    del pairs
    order = timed("order of vertices", rank_order, graph)
    graph = timed("vertices in order", graph.permute, order)
    matrix = timed("normalising", graph.normalise, "symmetric")
    network = Network.of_widths(widths)
    sample = timed("rounding weights", Sample.of, network, Recipe(), matrix, graph.features,
                   graph.labels, graph.splits)
    compiled = timed(_COMPILING, CompiledEdges.of, network, sample.edges, 0, config)
    count = sum(int(messages.edges.sum()) for one in compiled.matrices
                for _, messages in one.strips)
    del compiled, sample
    sampler = timed("beginning to sample", NeighbourSampler, matrix, targets, _FAN_OUTS,
                    batch_size=min(_TARGETS, len(targets)))
    timed(f"{_BATCHES} batches of {_TARGETS:,} vertices, sampled", lambda: [
        sampler.batch(*divmod(number, len(sampler))) for number in range(_BATCHES)])
    yield graph.edges.nnz, count, parts


def draw_pairs(vertices: int, count: int) -> IntArray:
    """(count, 2) ends of edges, whose degrees fall with the root of the rank."""
    generator = np.random.default_rng(0)
    numbers = generator.permutation(vertices)
    ends = np.empty(2 * count, dtype=np.int64)
    for part in np.split(ends, range(_DRAWN, len(ends), _DRAWN)):
        part[:] = numbers[(vertices * generator.random(len(part))**2).astype(np.int64)]
    return ends.reshape(-1, 2)
