"""GraphSAGE, GIN, residual connections and jumping knowledge on the chip, in every word."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.benches.trainings import compare_training
from hypercast.host.compiler import compile_job
from hypercast.host.graph import Graph
from hypercast.host.training import open_device, prepare
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import AGGREGATE_FIRST
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config
from tests.system.chips import CHIPS, NARROW, ONE_CORE, SLOW_MEMORY, WIDE, random_graph, star

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
}
each_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())


@dataclass(frozen=True, kw_only=True)
class ModelTraining:
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
        network = model_network(name, self.graph.features.shape[1], self.hidden,
                                self.graph.classes, dropout=self.dropout, **additions)
        network = network.ordered(self.order if self.order in layer.orders else layer.orders[0]
                                  for layer in network.layers)
        recipe = {"normalisation": MODELS[name], "weight_decays": (0.0,), **self.recipe}
        recipe = Recipe(epochs=self.epochs, element_width=self.config.element_width, **recipe)
        return prepare(self.graph, network, recipe, None if self.order else self.config)

    def check(self):
        """Train on chip and reference; every word must be equal."""
        words, _, cycles = compare_training(
            self, lambda model: open_device("rtl", model, self.config))
        assert words.words and words.equal == words.words, str(words)
        assert cycles > 0


@each_variant
@pytest.mark.parametrize("config", CHIPS.values(), ids=CHIPS.keys())
def test_variants(config, variant):
    graph = random_graph(26, 60, directed=True, features=7, classes=5, isolated=2, seed=5)
    ModelTraining(graph=graph, config=config, variant=variant).check()


@each_variant
def test_deep(variant):
    ModelTraining(graph=random_graph(30, 70, features=9, seed=6), config=WIDE, variant=variant,
                  hidden=(7, 7, 7), epochs=3).check()


@each_variant
def test_aggregate_first(variant):
    """Convolutions whose own rows are not added sum over neighbours before they multiply."""
    training = ModelTraining(
        graph=random_graph(26, 60, directed=True, features=7, classes=5, seed=7), config=WIDE,
        variant=variant, dropout=0.0, order=AGGREGATE_FIRST)
    orders = {layer.order for layer in training.model().network.layers}
    assert (AGGREGATE_FIRST in orders) == (variant[0] != "sage")
    training.check()


@each_variant
def test_several_destination_tiles(variant):
    graph = random_graph(70, 150, directed=True, seed=6)
    assert -(-graph.vertices // WIDE.cores) > WIDE.accumulator_rows
    ModelTraining(graph=graph, config=WIDE, variant=variant, hidden=(4, 4)).check()


def test_a_loss_gradient_of_one_panel_and_several_tiles():
    """What multiplies with it waits for all of its rows."""
    training = ModelTraining(graph=random_graph(100, 250, directed=True, seed=6), config=WIDE,
                             variant=("gcn", {}), dropout=0.0, order=AGGREGATE_FIRST)
    assert training.graph.classes <= WIDE.lanes
    training.check()


@each_variant
def test_chosen_orders(variant):
    ModelTraining(graph=random_graph(60, 200, features=4, seed=11), config=WIDE, variant=variant,
                  dropout=0.0, order=None).check()


@each_variant
@pytest.mark.parametrize("graph", [
    random_graph(1, 0, classes=1), random_graph(3, 4), random_graph(9, 0), star(30)],
    ids=["one vertex", "fewer vertices than cores", "no edges", "star"])
def test_graphs(graph, variant):
    ModelTraining(graph=graph, config=WIDE, variant=variant).check()


@each_variant
def test_sparse_features(variant):
    """Both weights of a first layer take them without their zero words, gradients in chunks."""
    values = scipy.sparse.random_array((30, 64), density=0.03, rng=np.random.default_rng(3))
    graph = Graph.from_edges(np.random.default_rng(4).integers(0, 30, (60, 2)), values,
                             np.arange(30) % 3, train=range(0, 30, 2))
    training = ModelTraining(graph=graph, config=NARROW, variant=variant)
    assert not compile_job(training.model(), NARROW).regions["X"].columns
    training.check()


@st.composite
def trainings(draw):
    """Any small model on any small graph."""
    vertices = draw(st.integers(1, 45))
    graph = random_graph(
        vertices, draw(st.integers(0, 120)), features=draw(st.integers(1, 9)),
        classes=draw(st.integers(1, min(vertices, 6))), directed=draw(st.booleans()),
        isolated=draw(st.integers(0, 5)), seed=draw(st.integers(0, 2**32 - 1)))
    variant = draw(st.sampled_from(list(VARIANTS.values())))
    widths = st.integers(1, 9)
    hidden = (draw(widths),) * draw(st.integers(2, 3)) if "residual" in variant[1] else \
        tuple(draw(st.lists(widths, min_size=1, max_size=3)))
    return ModelTraining(
        graph=graph, config=draw(st.sampled_from([NARROW, WIDE, SLOW_MEMORY, ONE_CORE])),
        variant=variant, hidden=hidden, dropout=draw(st.sampled_from([0.0, 0.5])),
        recipe={"normalisation": draw(st.sampled_from(
            ["symmetric", "mean", "given", "neighbours", "sum"])),
            "gin_epsilon": draw(st.sampled_from([0.0, 0.3])), "seed": draw(st.integers(0, 2**40)),
            "headroom": draw(st.integers(0, 3))})


@settings(max_examples=15)
@given(trainings())
def test_random_trainings(training):
    training.check()


@pytest.mark.slow
@settings(max_examples=400)
@given(trainings())
def test_many_random_trainings(training):
    training.check()
