# SPDX-License-Identifier: BSD-2-Clause
"""Small models for tests of compiler, driver and devices."""

from dataclasses import replace

import numpy as np

from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import prepare
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Opcode

#: Two cores of two lanes, as small as they get.
SMALL = Config(dimensions=1, lanes=2, planes=1, accumulator_rows=16, weight_rows=64,
               channel_words=1024, program_rows=128, read_buffer=4, tensors=32)


def left_channel(entry):
    """Memory channel of the left operand of a decoded MATMUL or GRADIENT."""
    return 1 - entry["gradient_channel"] if entry["opcode"] == Opcode.GRADIENT \
        else entry["channel"]


def small_graph(vertices=9, features=5, classes=3, *, edges=None, directed=False):
    """A ring (or ``edges``) with features that are all different."""
    values = np.arange(vertices * features).reshape(vertices, features) % 7 - 3.0
    ring = [[v, (v + 1) % vertices] for v in range(vertices)]
    return Graph.from_edges(
        ring if edges is None else edges, values, np.arange(vertices) % classes,
        train=np.arange(0, vertices, 2), validation=np.arange(1, vertices, 4), directed=directed)


def small_model(graph=None, *, hidden=(4,), config=SMALL, dropout=0.5, orders="combine_first",
                **recipe):
    """A model of a graph (``small_graph()``), in its initial state."""
    graph = small_graph() if graph is None else graph
    network = Network.of_widths([graph.features.shape[1], *hidden, graph.classes],
                                dropout=dropout, orders=orders)
    recipe = {"epochs": 5, "weight_decays": (0.0,), **recipe}
    return prepare(graph, network, Recipe(element_width=config.element_width, **recipe))


def with_exponent(model, entry, exponent):
    """A model whose exponent file has one more entry."""
    exponents = {**model.state.exponents, entry: (exponent, None)}
    return replace(model, state=replace(model.state, exponents=exponents))


def named_model(name, graph=None, *, hidden=(4,), config=SMALL, dropout=0.5, **additions):
    """One of ``reference.models``, of a graph (``small_graph()``), in its initial state."""
    graph = small_graph() if graph is None else graph
    network = model_network(name, graph.features.shape[1], hidden, graph.classes,
                            dropout=dropout, **additions)
    return prepare(graph, network, Recipe(
        element_width=config.element_width, epochs=5, weight_decays=(0.0,),
        normalisation=MODELS[name].normalisation))
