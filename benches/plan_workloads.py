# SPDX-License-Identifier: BSD-2-Clause
"""Trainings and clusters on which systems that split a training are compared."""

from collections.abc import Callable, Mapping
from functools import partial

from hypercast.benches.study.graphs import GRAPHS, GraphStatistics
from hypercast.host.cluster.description import Cluster
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.training.ordering import ordered_for_numbers
from hypercast.reference.models import model_network
from hypercast.reference.network import LINEAR, Layer, Network
from hypercast.reference.recipe import Recipe

__all__ = ["CLUSTERS", "WORKLOADS", "branch", "deep", "unequal", "whole"]

#: Eight equal boards on a fast and on a slow network, unequal boards, and boards on serial lines.
CLUSTERS = ("vcu128-8", "vcu128-8-slow", "mixed", "ulx3s-4")

#: Sizes of ogbn-products (Hu et al., Open Graph Benchmark, 2020), as published.
_PRODUCTS = GraphStatistics(vertices=2_449_029, edges=123_718_280, features=100, classes=47)
#: Vertices and edges of a subgraph that is a micro-batch, as in HP-GNN's study.
_VERTICES, _EDGES, _FEATURES, _CLASSES = 2_750, 57_260, 602, 41
#: Micro-batches of a step.
_SAMPLES = 16


def unequal() -> Cluster:
    """Six VCU128, and two U50, which have half the cores."""
    return Cluster.of_sections({
        "boards": {name: {"board": name, "count": count}
                   for name, count in (("vcu128", 6), ("u50", 2))},
        "links": {"network": {"gigabits": 100.0, "microseconds": 5.0}}})


def whole(graph: GraphStatistics, hidden: tuple[int, ...], cluster: Cluster) -> Problem:
    """Steps on a whole graph."""
    network = Network.of_widths((graph.features, *hidden, graph.classes))
    return _problem(cluster, network, Statistics.whole(
        graph.vertices, graph.edges + graph.vertices, len(network.layers)))


def deep(cluster: Cluster, layers: int, hidden: int, samples: int = _SAMPLES) -> Problem:
    """Steps of a deep network on samples."""
    network = Network.of_widths((_FEATURES, *[hidden] * (layers - 1), _CLASSES))
    return _problem(cluster, network, _sample(layers), micro_batches=samples)


def branch(cluster: Cluster, branches: int = 3, length: int = 8,
           samples: int = _SAMPLES // 2) -> Problem:
    """Steps of a network with branches of convolutions, on samples.

    A first layer, several branches of equal convolutions, and a linear layer that takes the
    outputs of all side by side.
    """
    width = 128
    layers = [Layer(features_in=_FEATURES, features_out=width)]
    ends = []
    for _ in range(branches):
        layers += [Layer(features_in=width, features_out=width, source=None if place else 1)
                   for place in range(length)]
        ends.append(len(layers))
    layers.append(Layer(features_in=branches * width, features_out=_CLASSES, order=LINEAR))
    return _problem(cluster, Network(layers=tuple(layers), jumping=tuple(ends)),
                    _sample(len(layers)), micro_batches=samples)


def _gcnii(cluster: Cluster) -> Problem:
    """Steps of GCNII on samples."""
    network = model_network("gcnii", _FEATURES, (64,) * _DEEP, _CLASSES)
    return _problem(cluster, network, _sample(len(network.layers)), micro_batches=_SAMPLES)


def _problem(cluster: Cluster, network: Network, statistics: Statistics,
             micro_batches: int = 1) -> Problem:
    """The problem of a network with the default orders."""
    recipe = Recipe(element_width=cluster.boards[0].config.element_width,
                    micro_batches=micro_batches)
    return Problem.of_network(cluster, ordered_for_numbers(
        network, statistics.vertices, statistics.edges, recipe, law=statistics.law,
        sampled=statistics.sampled), statistics, micro_batches=micro_batches)


def _sample(layers: int) -> Statistics:
    return Statistics(vertices=(_VERTICES,) * (layers + 1), edges=(_EDGES,) * layers,
                      sampled=True)


#: Convolutions of the deep networks.
_DEEP = 32
#: Workloads that fit boards of 64 kB.
_SMALL = GraphStatistics(vertices=300, edges=1_200, features=8, classes=4)
_LARGE: Mapping[str, Callable[[Cluster], Problem]] = {
    **{f"{name}, whole graph": partial(whole, graph, (128,))
       for name, graph in ({name: GRAPHS[name] for name in ("Reddit", "Yelp", "AmazonProducts")}
                           | {"ogbn-products": _PRODUCTS}).items()},
    "deep network, whole graph": partial(whole, GRAPHS["Reddit"], (64,) * (_DEEP - 1)),
    "deep network, samples": partial(deep, layers=_DEEP, hidden=64),
    "GCNII, samples": _gcnii,
    "branched network": branch,
}
#: Cluster to trainings by name.
WORKLOADS: Mapping[str, Mapping[str, Callable[[Cluster], Problem]]] = {
    **dict.fromkeys(CLUSTERS[:3], _LARGE),
    CLUSTERS[3]: {"small graph": partial(whole, _SMALL, (8,)),
                  "small graph, 7 layers": partial(whole, _SMALL, (8,) * 6)}}
