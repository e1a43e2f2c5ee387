# SPDX-License-Identifier: BSD-2-Clause
"""A graph that one board does not hold, on as few boards as hold it."""

from collections.abc import Callable, Iterator

from hypercast.benches.figure import Figure
from hypercast.benches.study.graphs import GRAPHS, GraphStatistics
from hypercast.errors import InputError
from hypercast.host.cluster.description import Cluster, load_cluster
from hypercast.host.cycle_model.default_orders import default_orders
from hypercast.host.planner.pipelines import BoardStage, stage_footprint
from hypercast.host.planner.plan import Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies.graph_parts import evaluated_parts
from hypercast.reference.network import Network

__all__ = ["fewest", "placement"]

_GRAPH, _HIDDEN = "AmazonProducts", 256
#: Cluster to layers of a network that one of its boards does not hold.
_LAYERS = {"u50-16": 2, "vcu128-16": 3}


def placement(progress: Callable[[str], None]) -> Iterator[Figure]:
    """The figures; the graph's are its published sizes, and vertices as if dealt at random."""
    for name, layers in _LAYERS.items():
        progress(f"{_GRAPH} on boards of {name}")
        yield from fewest(_GRAPH, GRAPHS[_GRAPH], layers, load_cluster(name))


def fewest(name: str, graph: GraphStatistics, layers: int, cluster: Cluster) -> Iterator[Figure]:
    """Memory of one board, and of the fullest of as few as hold a graph.

    Parameters
    ----------
    name : str
        The graph's name.
    graph : GraphStatistics
        Sizes of the graph.
    layers : int
        Layers of the network.
    cluster : Cluster
        Equal boards.

    Raises
    ------
    InputError
        If all boards do not hold it.
    """
    statistics = Statistics.whole(graph.vertices, graph.edges + graph.vertices, layers)
    network = default_orders(
        Network.of_widths((graph.features, *[_HIDDEN] * (layers - 1), graph.classes)),
        statistics.vertices, statistics.edges, cluster.boards[0].config.element_width)
    problem = Problem.of_network(cluster, network, statistics)
    board = problem.boards[0]
    alone = stage_footprint(problem, BoardStage(tuple(range(layers)), (board,)), board, 1)
    title = f"{name} by its sizes, {layers} layers, {_HIDDEN} hidden, {board.kind}: "
    # Of the two memories of a board, the fuller one counts.
    yield Figure(name=f"{title}what the whole graph needs of one board's fuller memory", bar=1.0,
                 value=max(alone.features, alone.gradients) / board.config.channel_words)
    plan: Plan | str = ""
    for count in range(2, len(problem.boards) + 1):
        plan = evaluated_parts(problem, problem.boards[:count], hidden=False)
        if isinstance(plan, Plan):
            break
    if not isinstance(plan, Plan):
        raise InputError(f"{len(problem.boards)} boards do not hold {name}: {plan}")
    yield Figure(name=f"{title}boards that hold it, the fewest", value=len(plan.boards))
    yield Figure(name=f"{title}memory of the fullest of them", value=plan.fullest / 1e9, unit="GB")
    yield Figure(name=f"{title}memory of the fullest, by what it has", bar=1.0, relation="<=",
                 value=plan.fullest / board.memory)
    yield Figure(name=f"{title}step on them", value=plan.seconds * 1e3, unit="ms")
