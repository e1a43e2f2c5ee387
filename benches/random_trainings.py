# SPDX-License-Identifier: BSD-2-Clause
"""Trainings drawn at random: configurations, graphs, networks and recipes of all shapes."""

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_arguments import graph_arguments
from hypercast.host.graphs.parallel_edges import Parallel
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.training.prepare import loss_of, prepare
from hypercast.reference.array_types import IntArray
from hypercast.reference.exponents import AlignmentError, ExponentError
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import Network
from hypercast.reference.quantization import ConstantError
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config

__all__ = ["Ends", "RandomTraining", "draw_config", "draw_ends", "draw_feasible", "draw_training"]

#: Draws the ends of edges, (edges, 2) vertices, from a generator and the numbers of both.
Ends = Callable[[np.random.Generator, int, int], IntArray]

#: Additions to a model.
_ADDITIONS: tuple[dict[str, Any], ...] = (
    {}, {}, {"residual": True}, {"jumping": True}, {"jumping": True, "residual": True})
#: Lanes, and the most dimensions with them: a chip of more takes long to compile.
_LARGEST = {2: 4, 4: 4, 8: 2, 16: 1}


@dataclass(frozen=True, kw_only=True)
class RandomTraining:
    """A training job, as ``compare_training`` takes it.

    Parameters
    ----------
    graph : Graph
        The graph.
    network : Network
        The network.
    recipe : dict
        Fields of ``Recipe``.
    config : Config
        Configuration of the chip.
    choose : bool
        Whether orders are chosen by the fewest predicted cycles.
    epochs : int
        Training steps.
    loss_weights : (V,) array of float, optional
        Factor of each vertex's loss.
    model_name : str
        The network's key in ``MODELS``.
    """

    graph: Graph
    network: Network
    recipe: dict[str, Any]
    config: Config
    choose: bool = False
    epochs: int = 2
    loss_weights: np.ndarray | None = None
    model_name: str = ""

    def __str__(self) -> str:
        widths = [self.network.features, *(layer.features_out for layer in self.network.layers)]
        return f"{self.graph.vertices} vertices, {'-'.join(map(str, widths))}"

    def model(self) -> InitialModel:
        """A fresh model in its initial state."""
        recipe = Recipe(epochs=self.epochs, element_width=self.config.element_width,
                        loss=loss_of(self.graph), **self.recipe)
        return prepare(self.graph, self.network, recipe, self.config if self.choose else None,
                       loss_weights=self.loss_weights)


def draw_config(generator: np.random.Generator) -> Config:
    """A random configuration: any field that does not only bound the sizes of trainings."""
    def choose(*values: Any) -> Any:
        return values[generator.integers(len(values))]

    def power(low: int, high: int) -> int:
        return 1 << int(generator.integers(low, high + 1))

    lanes = choose(*_LARGEST)
    planes = choose(1, 2, 4)
    latency = choose(1, 1, 8, 40, 100)
    accumulator_rows = power(4, 11)
    return Config(
        dimensions=int(generator.integers(0, _LARGEST[lanes] + 1)), lanes=lanes, planes=planes,
        eject=choose(*(eject for eject in (1, 2, 4) if eject <= planes)),
        buffer_depth=int(generator.integers(2, 9)), element_width=choose(8, 16),
        accumulator_rows=accumulator_rows,
        aggregation_rows=choose(0, min(2048, accumulator_rows << int(generator.integers(4)))),
        weight_rows=65536, channel_words=2**18, row_counts=power(4, 10),
        operand_words=power(4, 12), bypass_rows=power(4, 11), read_buffer=power(2, 7),
        edge_buffer=power(1, 5), program_rows=4096, tensors=256, adam=bool(generator.integers(4)),
        memory_latency=latency, memory_stalls=latency > 1 and bool(generator.integers(2)))


def draw_feasible(draw: Callable[[], RandomTraining]) -> tuple[RandomTraining, Job, int]:
    """A training that its chip has room for, and whose values stay in range on the reference.

    Parameters
    ----------
    draw : callable
        Draws a training; it is called until one is feasible.

    Returns
    -------
    tuple
        The training, its job, and how many were drawn in vain before it.
    """
    for refused in itertools.count():
        training = draw()
        with contextlib.suppress(CapacityError, AlignmentError, ExponentError, ConstantError):
            model = training.model()
            job = compile_job(model, training.config)
            oracle = ReferenceDevice(model)
            for _ in range(training.epochs):
                oracle.train_step()
            oracle.evaluate()
            return training, job, refused
    raise AssertionError("drawing has no end")


def draw_ends(generator: np.random.Generator, vertices: int, edges: int) -> IntArray:
    """Ends of edges between any vertices; some of these may be hubs."""
    ends = generator.integers(0, vertices, (edges, 2))
    if generator.integers(2):  # hubs
        ends[:, 0] = ends[:, 0] ** 2 // vertices
    return ends


def draw_training(generator: np.random.Generator, config: Config, *, least: int = 1,
                  vertices: int = 2000, features: int = 4000, classes: int = 64,
                  edges: int = 60_000, work: int = 50_000,
                  ends: Ends = draw_ends) -> RandomTraining:
    """A random training for a configuration, with sizes within bounds.

    Sizes are spread evenly over their orders of magnitude.

    Parameters
    ----------
    generator : numpy.random.Generator
        Random numbers.
    config : Config
        Configuration of the chip.
    least : int
        The fewest vertices.
    vertices, features, classes, edges : int
        The most of each.
    work : int
        Words that enter a core's array in a step, about, at most; sizes are drawn again until they
        are fewer.
    ends : callable
        Draws the ends of edges.
    """
    def choose(*values: Any) -> Any:
        return values[generator.integers(len(values))]

    def size(most: int, least: int = 1) -> int:
        return round(float(np.exp(generator.uniform(np.log(least), np.log(most)))))

    model, additions = choose(*MODELS), dict(choose(*_ADDITIONS))
    if model == "sage":
        additions.pop("residual", None)
    if model == "gcnii":
        additions = {"alpha": choose(0.1, 0.5), "theta": choose(0.5, 1.5)}
    if MODELS[model].least:
        additions = {}
    while True:
        count = size(vertices, least)
        widths = [size(features), *(size(64) for _ in range(choose(0, 1, 1, 2, 3))),
                  size(classes, 2)]
        if additions:  # two hidden layers of the same width at least; GCNII's all have it
            widths[1:-1] = [widths[-2] if len(widths) > 2 else size(16)] * choose(2, 3)
        if MODELS[model].least:
            widths[1:-1] = [size(24) for _ in range(choose(3, 4))]
        panels = [-(-width // config.lanes) for width in widths]
        rows = -(-count // config.cores)
        density = choose(1.0, np.exp(generator.uniform(np.log(1 / widths[0]), 0.0)))
        stored = min(1.0, density * config.lanes)
        entered = rows * 3 * (stored * panels[0] * panels[1] + sum(
            before * after for before, after in pairwise(panels[1:])))
        if entered <= work:
            break
    graph = _graph(generator, count, widths[0], widths[-1], density, edges, ends)
    dropout = choose(0.0, 0.5, 0.75)
    network = model_network(model, widths[0], widths[1:-1], widths[-1], dropout=dropout,
                            **additions)
    # Layers that drop input features combine first.
    network = network.with_orders(
        layer.orders[0] if dropout and network.reads_features((number,)) else choose(*layer.orders)
        for number, layer in enumerate(network.layers, 1))
    optimiser = choose("sgd", "adam") if config.adam else "sgd"
    own = MODELS[model].normalisation
    recipe = {"normalisation": choose(own, own, "symmetric", "mean", "given"),
              "optimiser": optimiser, "weight_decays": (choose(0.0, 0.0, 5e-4),),
              "seed": int(generator.integers(2**40)),
              "headroom": choose(None, 0, 1, 3), "feature_headroom": choose(None, -3, 0, 3),
              "gradient_headroom": choose(None, 0, 3)}
    weights = generator.uniform(0.1, 4.0, count) if choose(False, False, True) else None
    return RandomTraining(graph=graph, network=network, recipe=recipe, config=config,
                          choose=choose(False, True), loss_weights=weights, model_name=model)


def _graph(generator: np.random.Generator, vertices: int, features: int, classes: int,
           density: float, most: int, ends: Ends) -> Graph:
    """Random edges, some vertices without any, some with many; classes, or several labels."""
    degree = np.exp(generator.uniform(np.log(0.2), np.log(40)))
    pairs = ends(generator, vertices, min(int(vertices * degree), most))
    stored = int(vertices * features * density)
    where = generator.integers(0, (vertices, features), (stored, 2)).T
    what = generator.normal(size=stored) if generator.integers(2) else np.ones(stored)
    values = scipy.sparse.coo_array((what, tuple(where)), (vertices, features)).tolil()
    values[0, 0] = 1.0
    if generator.integers(3):
        labels = generator.integers(0, classes, vertices)
        labels[-1] = classes - 1
    else:
        labels = (generator.random((vertices, classes)) < 0.3).astype(int)
    splits = generator.permutation(vertices)
    half, end = max(vertices // 2, 1), vertices * 3 // 4
    return Graph(**graph_arguments(
        pairs, values.tocsr(), labels, train=splits[:half], validation=splits[half:end],
        test=splits[max(half, end):], directed=bool(generator.integers(2)),
        parallel=Parallel.SET))
