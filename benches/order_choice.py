# SPDX-License-Identifier: BSD-2-Clause
"""The default orders of products, which are the same on all chips, against the fastest on each."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hypercast.benches import batches, roofline
from hypercast.benches.figure import Figure
from hypercast.benches.many_features import many_features_graph
from hypercast.benches.plan_workloads import CLUSTERS, WORKLOADS
from hypercast.benches.steps import chip, synthetic_graph
from hypercast.benches.study.batch import SAMPLINGS
from hypercast.benches.study.graphs import GRAPHS
from hypercast.host.cluster.description import load_cluster
from hypercast.host.cycle_model.default_orders import YARDSTICK, expected_workload
from hypercast.host.cycle_model.orders import choose_orders
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.graphs.graph import Graph
from hypercast.host.schemes.sample_source import SampleSource
from hypercast.host.training.ordering import (
    ordered_for_graph,
    ordered_for_numbers,
    ordered_for_samples,
)
from hypercast.host.training.prepare import loss_of, prepare
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import PRESETS, Config

__all__ = ["order_figures"]

#: By how much default orders may be slower than the fastest, where benches train by default orders.
_BAR = 1.03
#: Bundled graphs, models and hidden features of trainings on a simulated chip.
_BUNDLED, _MODELS, _HIDDEN = ("karate", "blocks", "communities"), ("gcn", "gin", "mixhop"), 16
_DROPOUT = 0.5
#: Networks of more layers are predicted with fewer trials.
_FEW = 4
#: The memory of a configuration does not matter here.
_ROOM = ("weight_rows", "channel_words", "program_rows", "tensors")


class OrderedStep(NamedTuple):
    """A training with the default orders, and its step on a chip.

    Attributes
    ----------
    name : str
        The training, and its chip.
    network : Network
        With the default orders.
    step : callable
        Gives the ``Workload`` on a ``Config``, of any orders.
    config : Config
        Configuration of the chip.
    """

    name: str
    network: Network
    step: Callable[[Config], Workload]
    config: Config

    def workload(self) -> Workload:
        """The step on the chip, with the default orders, whatever it has of memory."""
        config = self.config.replace(**{field: getattr(YARDSTICK, field) for field in _ROOM})
        return self.step(config).with_orders(layer.order for layer in self.network.layers)

    def slower(self) -> float:
        """Cycles of the default orders over cycles of the fastest ones."""
        workload = self.workload()
        fastest = choose_orders(workload)
        if fastest.orders == workload.orders:
            return 1.0
        return _cycles(workload) / _cycles(fastest)


def _cycles(workload: Workload) -> int:
    few = len(workload.network.layers) <= _FEW
    return (predict(workload) if few else predict(workload, trials=1)).cycles


def order_figures(data: Path | None, narrow: Mapping[str, Config],
                  shapes: Sequence[tuple[int, int, int, int, int]],
                  progress: Callable[[str], None]) -> Iterator[Figure]:
    """Cycles of the default orders over cycles of the fastest ones.

    Parameters
    ----------
    data : Path, optional
        Folder of Cora, which is left out without it.
    narrow : dict
        Name to configuration of chips of few lanes.
    shapes : sequence of tuple
        Trainings without dropout on these: vertices, edges, features, hidden features, classes.
    progress : callable
        Called with a line of text before each training.
    """
    worst = 1.0
    for one in itertools.chain(_batches(), _trainings(), _whole(data), _bundles()):
        progress(f"orders: {one.name}")
        value = one.slower()
        worst = max(worst, value)
        yield Figure(name=f"default orders / fastest: {one.name}", value=value)
    yield Figure(name="default orders / fastest on the chips of benches, the worst", value=worst,
                 bar=_BAR, relation="<=")
    progress("orders: chips of few lanes")
    for name, value in _narrow(narrow, shapes):
        yield Figure(name=name, value=value)


def _batches() -> Iterator[OrderedStep]:
    """Sampled batches of large graphs, of bench paper."""
    config, recipe = PRESETS["vcu128"], Recipe()
    for (name, graph), (sampling, batch), hidden in itertools.product(
            GRAPHS.items(), SAMPLINGS.items(), (128, 256)):
        sizes = batch.vertices, [block.entries for block in batch.blocks]
        network = ordered_for_numbers(Network.of_widths((graph.features, hidden, graph.classes)),
                                      *sizes, recipe, law="power", sampled=True)
        yield OrderedStep(f"{name}, {sampling}, {hidden} hidden, vcu128", network, partial(
            Workload.of_statistics, *sizes, network, sampled=True, pipelined=True,
            resident=True), config)


def _trainings() -> Iterator[OrderedStep]:
    """Trainings of bench plan, on the first board of a cluster of each kind."""
    for cluster in (CLUSTERS[0], CLUSTERS[-1]):
        boards = load_cluster(cluster)
        for name, make in WORKLOADS[cluster].items():
            problem = make(boards)
            network, known = problem.layers[0].network, problem.statistics
            yield OrderedStep(
                f"{name}, {boards.boards[0].kind}", network, partial(
                    expected_workload, network, known.vertices, known.edges,
                    sampled=known.sampled, resident=known.sampled), boards.boards[0].config)


def _whole(data: Path | None) -> Iterator[OrderedStep]:
    """Whole graphs of benches roofline, cora, sparse and accuracy."""
    graphs = {"synthetic graph": (synthetic_graph(*roofline.GRAPH), roofline.HIDDEN)}
    if data:
        graphs["Cora"] = Graph.load(str(data)), _HIDDEN
    chips = {f"P = {lanes}": chip(roofline.CHIP, lanes) for lanes in roofline.LANES} | {
        name: PRESETS[name] for name in ("cora", "vcu128")}
    for (name, (graph, hidden)), (on, config) in itertools.product(graphs.items(), chips.items()):
        yield _on_graph(f"{name}, {on}", graph, "gcn", hidden, config)
    yield _on_graph("many features, vcu128", many_features_graph(), "gcn", 128, PRESETS["vcu128"])


def _bundles() -> Iterator[OrderedStep]:
    """Trainings that benches bits and accuracy compare with a simulated chip in every word."""
    for name, model in itertools.product(_BUNDLED, _MODELS):
        hidden = (8,) * 4 if model == "mixhop" else (_HIDDEN,)
        yield _on_graph(f"{name}, {model}, demo", Graph.load(name), model, hidden, PRESETS["demo"])


def _on_graph(name: str, graph: Graph, model: str, hidden: int | tuple[int, ...], config: Config,
              dropout: float = _DROPOUT) -> OrderedStep:
    hidden = (hidden,) if isinstance(hidden, int) else hidden
    network = ordered_for_graph(model_network(
        model, graph.features.shape[1], hidden, graph.classes, dropout=dropout), graph,
        config.element_width)

    def step(config: Config) -> Workload:
        recipe = Recipe(element_width=config.element_width, loss=loss_of(graph),
                        normalisation=MODELS[model].normalisation)
        return Workload.of_model(prepare(graph, network, recipe), config)

    return OrderedStep(name, network, step, config)


def _narrow(chips: Mapping[str, Config],
            shapes: Sequence[tuple[int, int, int, int, int]]) -> Iterator[tuple[str, float]]:
    """Trainings without dropout on chips of few lanes; each chip has orders of its own.

    Sums of a first layer are there before a step; how much that is worth depends on how many panels
    there are. The best that any one choice could do is said, too.
    """
    defaults, best = [], []
    for vertices, edges, features, hidden, classes in shapes:
        graph = synthetic_graph(vertices, edges, features, classes)
        steps = [_on_graph(name, graph, "gcn", hidden, config, 0.0)
                 for name, config in chips.items()]
        found: dict[tuple[str, ...], float] = {}
        for one in steps:
            workload = one.workload()
            cycles = {orders: _cycles(workload.with_orders(orders)) for orders in itertools.product(
                *(layer.orders for layer in one.network.layers))}
            for orders, value in cycles.items():
                found[orders] = max(found.get(orders, 1.0), value / min(cycles.values()))
        chosen = tuple(layer.order for layer in steps[0].network.layers)
        defaults.append(found[chosen])
        best.append(min(found.values()))
    yield (f"default orders / fastest without dropout on chips of {_lanes(chips)} lanes, the worst",
           max(defaults))
    yield "the same of the orders that are the best choice for all of these chips", max(best)
    for sampler, sampling in batches.SAMPLERS.items():
        graph = batches.sampled_graph()
        recipe = Recipe(element_width=batches.CONFIG.element_width)
        network = Network.of_widths(batches.WIDTHS)
        source = SampleSource(graph, network, recipe, sampling)
        network = ordered_for_samples(network, source, recipe)
        yield f"default orders / fastest: bench batches, {sampler}", OrderedStep(
            sampler, network, partial(
                Workload.of_batch, source.first.edges, network, resident=True, pipelined=True),
            batches.CONFIG).slower()


def _lanes(chips: Mapping[str, Config]) -> str:
    return " and ".join(map(str, sorted({config.lanes for config in chips.values()})))
