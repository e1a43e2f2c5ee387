# SPDX-License-Identifier: BSD-2-Clause
"""The largest graphs and layers that a configuration has room for, found with the compiler."""

from collections.abc import Callable

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.graphs.datasets import blocks
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import prepare
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config

__all__ = ["largest_graph", "largest_layer"]


def largest_graph(config: Config, *, features: int = 16, hidden: int = 16,
                  classes: int = 4) -> int:
    """Vertices of the largest graph, a stochastic block model, on which two layers are trained.

    A vertex has four neighbours on average.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    features, hidden, classes : int
        Widths of the network.
    """
    # Each class needs vertices of every split.
    return _largest(64, 16, lambda vertices: _fits(config, hidden, Graph(**blocks(
        vertices=vertices, classes=classes, features=features, degree=4.0))))


def largest_layer(config: Config, graph: Graph) -> int:
    """Hidden features of the widest network of two layers that can be trained on a graph.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    graph : Graph
        What to train on.
    """
    return _largest(config.lanes, config.lanes, lambda hidden: _fits(config, hidden, graph))


def _fits(config: Config, hidden: int, graph: Graph) -> bool:
    network = Network.of_widths([graph.features.shape[1], hidden, graph.classes])
    try:
        compile_job(prepare(graph, network, Recipe(element_width=config.element_width)), config)
    except CapacityError:
        return False
    return True


def _largest(least: int, step: int, fits: Callable[[int], bool]) -> int:
    """The largest ``least + k * step`` that fits, if what is smaller fits too; 0 if none does."""
    if not fits(least):
        return 0
    low, high = 0, 1
    while fits(least + high * step):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(least + middle * step) else (low, middle)
    return least + low * step
