# SPDX-License-Identifier: BSD-2-Clause
"""The contents of a graph of networkx, for ``Graph.from_networkx``."""

from typing import Any

import numpy as np

from hypercast.host.graphs.graph_error import GraphError
from hypercast.host.graphs.interchange.graph_errors import as_graph_errors
from hypercast.host.graphs.interchange.tensors import as_array
from hypercast.reference.array_types import IntArray

__all__ = ["networkx_edges"]

#: Kinds of NumPy's types that are real numbers.
_NUMBERS = "biuf"


def networkx_edges(graph: Any, weight: str | None, vertices: int) -> tuple[IntArray, Any, bool]:
    """Edges, their weights, and whether they have directions.

    Parameters
    ----------
    graph, weight
        As of ``Graph.from_networkx``.
    vertices : int
        Number of vertices that there should be.

    Returns
    -------
    edges : (E, 2) array of int
        Source and target of each edge.
    weights : (E,) array, or None
        One per edge.
    directed : bool
        Whether edges lead only from source to target.

    Raises
    ------
    GraphError
        If it is no such graph, or has no such weights.
    """
    if not (weight is None or isinstance(weight, str)):
        raise GraphError(f"weight is {str(weight)[:40]!r}; give the name of an attribute of edges, "
                         f"or leave it out")
    with as_graph_errors(graph, "a graph of networkx"):
        number = {vertex: index for index, vertex in enumerate(graph.nodes)}
        directed = bool(graph.is_directed())
        given = list(graph.edges(data=weight)) if weight is not None else \
            [(*ends, None) for ends in graph.edges()]
        ends = [(number[source], number[target]) for source, target, _ in given]
    if len(number) != vertices:
        raise GraphError(f"the graph has {len(number)} vertices, but there are {vertices} "
                         f"labels; give one per vertex, in the order of graph.nodes")
    edges = np.array(ends, dtype=np.int64).reshape(-1, 2)
    if weight is None:
        return edges, None, directed
    values = [value for _, _, value in given]
    if values and all(value is None for value in values):
        raise GraphError(f"no edge has an attribute {weight!r}; name the one that holds weights, "
                         f"or leave weight out")
    weights = [1.0 if value is None else value for value in values]
    found = as_array(weights, f"the edges' {weight}")
    if found.dtype.kind not in _NUMBERS:
        source, target, value = next(
            edge for edge in given if edge[2] is not None
            and as_array(edge[2], f"an edge's {weight}").dtype.kind not in _NUMBERS)
        raise GraphError(f"{weight} of the edge from {str(source)[:40]} to {str(target)[:40]} is "
                         f"{str(value)[:40]!r}, of type {type(value).__name__}; give a float")
    return edges, found, directed
