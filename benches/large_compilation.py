# SPDX-License-Identifier: BSD-2-Clause
"""The host's work for a training of a large graph, from a list of edges to a chip's job.

It runs in a process that may take no more time and memory than the bars allow.
"""

import math
import os
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hypercast.benches.figure import Figure
from hypercast.benches.huge_graph import draw_pairs
from hypercast.benches.large_graphs import BOARD, LargeGraph
from hypercast.benches.measured_part import Part, measure_part
from hypercast.errors import HypercastError
from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_arguments import graph_arguments
from hypercast.host.graphs.parallel_edges import Parallel
from hypercast.host.processes.child_process import in_child_process
from hypercast.host.training.prepare import prepare, training_data
from hypercast.reference.initial_state import initial_state
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample

__all__ = ["large_compilation"]

#: Bytes and seconds of processor time that it may take.
_BYTES, _SECONDS = 20 * 10**9, 600
#: Vertices and edges of a graph that gives the state of a model with which the large one is
#: compiled, as trying its first step is a part by itself.
_SMALL = 2_000, 20_000
#: The parts. Trying the first step comes last, though a training needs it before it compiles.
_MERGING = "checking and merging a list of edges"
_ORDERING = "order of vertices, and normalising"
_ROUNDING = "rounding weights and features"
_COMPILING = "messages, images and program"
_TRYING = "trying the first step on the reference"
_PARTS = (_MERGING, _ORDERING, _ROUNDING, _COMPILING, _TRYING)
#: What fails with a reason.
_FAILURES = (HypercastError, MemoryError)


def large_compilation(name: str, graph: LargeGraph,
                      progress: Callable[[str], None]) -> list[Figure]:
    """Time and memory of each part.

    Parameters
    ----------
    name : str
        Name of the graph.
    graph : LargeGraph
        Sizes of the graph; edges that are drawn twice are merged.
    progress : callable
        Called with a line of text.
    """
    parts: list[Part] = []
    ended = ""
    try:
        for part in in_child_process("compiles a large graph", _measure, graph, _BYTES, _SECONDS,
                                     progress=lambda text: progress(f"{name}: {text}")):
            parts.append(part)
    except ClusterError as error:
        ended = f"; {error}"
    return _figures(f"{name}, host", parts, ended)


def _figures(title: str, parts: list[Part], ended: str) -> list[Figure]:
    """What the parts took; what was not done is named with its reason."""
    failures = "".join(f"; {part.name}: {part.failure}" for part in parts if part.failure)
    return [
        *(Figure(name=f"{title}: {part.name}{', until it failed' if part.failure else ''}",
                 value=part.seconds, unit="s") for part in parts),
        *(Figure(name=f"{title}: peak memory, {part.name}", value=part.peak, unit="GB")
          for part in parts),
        Figure(name=f"{title}: parts done{failures}{ended}",
               value=sum(not part.failure for part in parts), bar=len(_PARTS), relation="="),
        Figure(name=f"{title}: all parts", value=sum(part.seconds for part in parts), unit="s",
               bar=_SECONDS, relation="<="),
        Figure(name=f"{title}: peak memory", value=max((part.peak for part in parts), default=0.0),
               unit="GB", bar=_BYTES / 1e9, relation="<="),
    ]


def _measure(graph: LargeGraph, most: int, seconds: int, *,
             progress: Callable[[str], None]) -> Iterator[Part]:
    """The parts, one after the other, in this process, which may take so many bytes and seconds.

    It takes no more bytes than the machine has free. What needs a part that failed is left out.
    """
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    network, recipe = graph.workload().network, Recipe()
    small = prepare(_make_graph(_draw(LargeGraph(*_SMALL, graph.widths))), network, recipe)
    progress("generating a graph")
    made: Any = _draw(graph)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_DATA, min(most, free))
    _limit(resource.RLIMIT_CPU, math.ceil(time.process_time()) + seconds)
    preparing: dict[str, Callable[[Any], Any]] = {
        _MERGING: _make_graph,
        _ORDERING: lambda graph: training_data(graph, recipe),
        _ROUNDING: lambda data: Sample.of(network, recipe, *data)}
    for name, function in preparing.items():
        progress(name)
        part, made = measure_part(name, function, made, failures=_FAILURES)
        yield part
        if part.failure:
            return
    for name, function in {
            _COMPILING: lambda sample: compile_job(small.with_sample(sample), BOARD),
            _TRYING: lambda sample: initial_state(network, recipe, sample)}.items():
        progress(name)
        yield measure_part(name, function, made, failures=_FAILURES)[0]


def _limit(what: int, most: int) -> None:
    """Allow this process no more of a resource."""
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _draw(graph: LargeGraph) -> dict[str, Any]:
    """Arguments of ``graph_arguments`` for a random graph of some sizes."""
    return {"edges": draw_pairs(graph.vertices, (graph.entries - graph.vertices) // 2),
            "features": np.random.default_rng(0).normal(size=(graph.vertices, graph.widths[0])),
            "labels": np.arange(graph.vertices) % graph.widths[-1],
            "train": np.arange(0, graph.vertices, 2)}


def _make_graph(arguments: dict[str, Any]) -> Graph:
    return Graph(**graph_arguments(**arguments, parallel=Parallel.SET))
