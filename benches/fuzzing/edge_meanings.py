# SPDX-License-Identifier: BSD-2-Clause
"""Edges that are there several times, and weights that are almost the same, from every source."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from random import Random
from types import SimpleNamespace
from typing import Any, TypeAlias

import networkx
import numpy as np
import scipy.sparse

from hypercast.benches.fuzzing.trial import READ, REFUSED, Trial, outcome, require
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_error import GraphError

__all__ = ["try_edge_meanings"]

#: (source, target) to weight.
Weights: TypeAlias = dict[tuple[int, int], float]
Edge: TypeAlias = tuple[int, int, float]

#: Units in the last place by which the weights of both directions differ, and whether they are the
#: same weight then.
_NEAR, _FAR = (0, 1, 5, 30), (100, 1000, 1 << 40)


def try_edge_meanings(trial: Trial) -> str:
    """A graph of random edges by one of the constructors, against a few lines of plain Python."""
    random = trial.random
    vertices = random.randint(1, 6)
    name = random.choice(list(_SOURCES))
    directed = trial.chance(0.5)
    edges = _draw(random, vertices, not directed and trial.chance(0.6))
    trial.note(f"{name}, {'directed' if directed else 'undirected'}: {edges}")
    make, meant = _SOURCES[name]
    expected = meant(edges, directed)
    try:
        graph = make(random, vertices, edges, directed)
    except GraphError as error:
        require(expected is None, f"edges that agree are refused: {error}")
        advised = "declare the graph directed" in str(error)
        require(not (advised and directed), f"a directed graph is to be directed: {error}")
        return outcome(error, ["the edge from vertex", "weight"])
    require(expected is not None, "edges that contradict each other are accepted")
    entries = graph.edges.tocoo()
    found = {(int(source), int(target)): float(weight) for source, target, weight in zip(
        entries.col, entries.row, entries.data, strict=True)}
    require(found == expected, f"edges {edges} became {found}, not {expected}")
    return READ if expected else REFUSED


def _draw(random: Random, vertices: int, near: bool) -> list[Edge]:
    """Edges with small weights, some there several times; or each in both directions, nearly."""
    edges = [(random.randrange(vertices), random.randrange(vertices), random.randint(-4, 9) / 4)
             for _ in range(random.randint(0, 12))]
    if not near:
        return edges
    units = _NEAR + _FAR if random.random() < 0.3 else _NEAR
    once: dict[frozenset[int], Edge] = {frozenset(edge[:2]): edge for edge in edges}
    both = [(target, source, weight * (1 - random.choice(units) * 2.0**-53))
            for source, target, weight in once.values() if source != target]
    found = [*once.values(), *both]
    random.shuffle(found)
    return found


def _sums(edges: Iterable[Edge], key: Callable[[int, int], tuple[int, int]]) -> Weights:
    found: Weights = defaultdict(float)
    for source, target, weight in edges:
        found[key(source, target)] += weight
    return dict(found)


def _both_ways(weights: Weights) -> Weights | None:
    """Each weight in both directions, the larger of two; None if two are not the same."""
    found = {}
    for (source, target), weight in weights.items():
        other = weights.get((target, source), weight)
        if abs(weight - other) > 64 * 2.0**-52 * max(abs(weight), abs(other)):
            return None
        found[source, target] = found[target, source] = max(weight, other)
    return found


def _matrix_means(edges: list[Edge], directed: bool) -> Weights | None:
    there = {ends: weight for ends, weight in _sums(edges, lambda *ends: ends).items() if weight}
    return there if directed else _both_ways(there)


def _multigraph_means(edges: list[Edge], directed: bool) -> Weights | None:
    return _sums(edges, lambda *ends: ends) if directed else _both_ways(
        _sums(edges, lambda source, target: (min(source, target), max(source, target))))


def _pyg_means(edges: list[Edge], directed: bool) -> Weights | None:
    return _multigraph_means(edges, True)


def _list_means(edges: list[Edge], directed: bool) -> Weights | None:
    given = defaultdict(list)
    for source, target, weight in edges:
        given[source, target].append(weight)
    if any(max(one) != min(one) for one in given.values()):
        return None
    once = {ends: one[0] for ends, one in given.items()}
    return once if directed else _both_ways(once)


def _parts(vertices: int) -> dict[str, Any]:
    return {"features": np.ones((vertices, 1)), "labels": np.zeros(vertices, int), "train": [0]}


def _arrays(edges: list[Edge]) -> tuple[Any, Any]:
    found = np.array(edges, dtype=np.float64).reshape(-1, 3)
    return found[:, :2].astype(np.int64), found[:, 2]


def _of_matrix(random: Random, vertices: int, edges: list[Edge], directed: bool) -> Graph:
    ends, weights = _arrays(edges)
    matrix: Any = scipy.sparse.coo_array((weights, (ends[:, 1], ends[:, 0])),
                                         shape=(vertices, vertices))
    form = random.choice(("coo", "csr", "csc", "dok", "lil", "array", "not canonical"))
    if form == "array":
        matrix = matrix.toarray()
    elif form == "not canonical":
        order = np.argsort(ends[:, 1], kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(ends[:, 1], minlength=vertices))])
        matrix = scipy.sparse.csr_array((weights[order], ends[order, 0], starts),
                                        shape=(vertices, vertices))
    else:
        matrix = matrix.asformat(form)
    return Graph.from_scipy(matrix, directed=directed, **_parts(vertices))


def _of_networkx(random: Random, vertices: int, edges: list[Edge], directed: bool) -> Graph:
    graph = networkx.MultiDiGraph() if directed else networkx.MultiGraph()
    graph.add_nodes_from(range(vertices))
    graph.add_weighted_edges_from(edges)
    return Graph.from_networkx(graph, weight="weight" if edges else None, **_parts(vertices))


def _of_pyg(random: Random, vertices: int, edges: list[Edge], directed: bool) -> Graph:
    ends, weights = _arrays(edges)
    data = SimpleNamespace(x=np.ones((vertices, 1)), y=np.zeros(vertices, int), edge_index=ends.T,
                           strength=weights, train_mask=np.arange(vertices) == 0)
    return Graph.from_pyg(data, weight="strength")


def _of_list(random: Random, vertices: int, edges: list[Edge], directed: bool) -> Graph:
    ends, weights = _arrays(edges)
    return Graph.from_edges(ends, weights=weights, directed=directed, **_parts(vertices))


#: A maker of a graph of edges, and the meaning of its edges: None if they contradict each other.
_SOURCES: dict[str, tuple[Callable[[Random, int, list[Edge], bool], Graph],
                          Callable[[list[Edge], bool], Weights | None]]] = {
    "matrix": (_of_matrix, _matrix_means), "networkx": (_of_networkx, _multigraph_means),
    "PyTorch Geometric": (_of_pyg, _pyg_means), "list": (_of_list, _list_means)}
