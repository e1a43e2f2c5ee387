# SPDX-License-Identifier: BSD-2-Clause
"""Small chips for whole-system tests, and trainings on them.

Compiling a chip takes half a minute, so all tests share these few; a training takes tenths of a
second.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hypercast.benches.trainings import compare_training
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.chip_transport import open_transport
from hypercast.host.training.prepare import loss_of, prepare
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import COMBINE_FIRST, Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config

#: Two cores, 8-bit elements, words narrower than a memory word, a destination strip every 32
#: vertices, and reductions of at most 16 tiles.
NARROW = Config(dimensions=1, lanes=2, planes=1, element_width=8, accumulator_rows=16,
                channel_words=8192, operand_words=64, program_rows=1024, read_buffer=8,
                weight_rows=1024)
#: Four cores that accept two flits per cycle.
WIDE = Config(dimensions=2, lanes=4, planes=2, eject=2, accumulator_rows=16,
              channel_words=4096, operand_words=256, program_rows=1024, read_buffer=16,
              weight_rows=512)
#: Memory that answers late and stalls at random.
SLOW_MEMORY = Config(dimensions=1, lanes=4, planes=2, accumulator_rows=32, channel_words=8192,
                     operand_words=512, program_rows=1024, read_buffer=32, memory_latency=20,
                     memory_stalls=True, weight_rows=4096)
#: No network at all; memory words that hold several records of every kind.
ONE_CORE = Config(dimensions=0, lanes=8, planes=1, accumulator_rows=64, channel_words=8192,
                  operand_words=128, program_rows=512, read_buffer=8, weight_rows=1024)
CHIPS = {"narrow": NARROW, "wide": WIDE, "slow memory": SLOW_MEMORY, "one core": ONE_CORE}

#: Every model, and what may be added to it.
VARIANTS = {
    "sage": ("sage", {}),
    "gin": ("gin", {}),
    "residual": ("gcn", {"residual": True}),
    "residual gin": ("gin", {"residual": True}),
    "jumping": ("gcn", {"jumping": True}),
    "jumping sage": ("sage", {"jumping": True}),
    "jumping gin": ("gin", {"jumping": True}),
    "jumping residual": ("gcn", {"jumping": True, "residual": True}),
    "gcnii": ("gcnii", {"alpha": 0.3, "theta": 1.5}),
    "mixhop": ("mixhop", {}),
    "sign": ("sign", {}),
}


class ChipTraining:
    """A training of which ``model`` makes the model, on a chip of its ``config``."""

    @cached_property
    def job(self):
        """The job of its model, compiled when it is asked for first."""
        return compile_job(self.model(), self.config)

    def check(self):
        """Train on chip and reference; every word must be equal."""
        words, _, cycles = compare_training(
            self, lambda model: AloneChip(open_transport("rtl", self.config), self.job, model))
        assert words.words and words.equal == words.words, str(words)
        assert cycles > 0


@dataclass(frozen=True, kw_only=True)
class GraphTraining(ChipTraining):
    """A training of any graph, as ``compare_training`` takes it; orders of None are chosen."""

    graph: Graph
    config: Config
    hidden: tuple = ()
    dropout: float = 0.0
    orders: str | tuple | None = COMBINE_FIRST
    epochs: int = 2
    recipe: dict = field(default_factory=dict)
    loss_weights: np.ndarray | None = None

    def model(self):
        """A fresh model in its initial state."""
        widths = [self.graph.features.shape[1], *self.hidden, self.graph.classes]
        network = Network.of_widths(
            widths, dropout=self.dropout, orders=self.orders or COMBINE_FIRST)
        recipe = Recipe(epochs=self.epochs, element_width=self.config.element_width,
                        loss=loss_of(self.graph), **self.recipe)
        return prepare(self.graph, network, recipe, None if self.orders else self.config,
                       loss_weights=self.loss_weights)


@dataclass(frozen=True, kw_only=True)
class ModelTraining(ChipTraining):
    """A training of a model, as ``compare_training`` takes it.

    Order None: those of the fewest cycles.
    """

    graph: Graph
    config: Config
    variant: tuple
    hidden: tuple = (5, 5)
    dropout: float = 0.5
    order: str | None = "combine_first"
    epochs: int = 2
    recipe: dict = field(default_factory=dict)

    def model(self):
        """A fresh model in its initial state."""
        name, additions = self.variant
        hidden = self.hidden
        if name == "mixhop":  # branches of no, one and two convolutions at least
            hidden = (*hidden, *hidden[:max(1, 4 - len(hidden))])
        network = model_network(name, self.graph.features.shape[1], hidden,
                                self.graph.classes, dropout=self.dropout, **additions)
        network = network.with_orders(self.order if self.order in layer.orders else layer.orders[0]
                                      for layer in network.layers)
        recipe = {"normalisation": MODELS[name].normalisation, "weight_decays": (0.0,),
                  **self.recipe}
        recipe = Recipe(epochs=self.epochs, element_width=self.config.element_width, **recipe)
        return prepare(self.graph, network, recipe, None if self.order else self.config)


def random_graph(vertices, edges, *, features=6, classes=3, directed=False, isolated=0, seed=0):
    """Random edges (loops among them) and real features; the last vertices have no edge."""
    generator = np.random.default_rng(seed)
    pairs = generator.integers(0, max(vertices - isolated, 1), (edges, 2))
    values = generator.normal(size=(vertices, features)) * generator.integers(
        0, 2, (vertices, features))
    labels = np.append(generator.integers(0, classes, vertices - 1), classes - 1)
    splits = generator.permutation(vertices)
    return Graph.from_edges(pairs, values, labels, train=splits[:max(vertices // 2, 1)],
                            validation=splits[vertices // 2 + 1:vertices * 3 // 4],
                            test=splits[vertices * 3 // 4 + 1:], directed=directed)


def star(leaves, **shape):
    """Vertex 0 has an edge with all others."""
    graph = random_graph(leaves + 1, 0, **shape)
    edges = [[0, leaf] for leaf in range(1, leaves + 1)]
    return Graph.from_edges(edges, graph.features, graph.labels,
                            train=graph.splits == 1, validation=graph.splits == 2,
                            test=graph.splits == 3)
