# SPDX-License-Identifier: BSD-2-Clause
"""Any small network trains on samples of any small graph as the reference does, word by word."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.graphs.sampling.saint import SaintSampler
from hypercast.host.graphs.sampling.samples import SampleMaker
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR
from hypercast.reference.recipe import Recipe
from hypercast.rtl.isa import Split
from tests.system.chips import NARROW, ONE_CORE, SLOW_MEMORY, VARIANTS, WIDE, random_graph
from tests.system.test_sampled_training import DRAWS, check

CONFIGS = st.sampled_from([NARROW, WIDE, SLOW_MEMORY, ONE_CORE])
WIDTHS = st.integers(1, 9)
#: Some take more panels than a run of the operand buffer, and most of them are zeros.
FEATURES = st.integers(1, 40)

#: What has no samples: edges of a graph without any, and networks that take rows of several layers,
#: which train on subgraphs only.
NO_SAMPLES = "there is nothing to draw from", "all layers must have the same vertices"


@st.composite
def sampled_trainings(draw):
    """Arguments of ``check``: a network, a chip, samples and a recipe."""
    config, vertices = draw(CONFIGS), draw(st.integers(6, 60))
    graph = random_graph(vertices, draw(st.integers(0, 200)), features=draw(FEATURES),
                         classes=draw(st.integers(1, 5)), isolated=draw(st.integers(0, 3)),
                         directed=draw(st.booleans()), seed=draw(st.integers(0, 2**32 - 1)))
    name, additions = draw(st.sampled_from([("gcn", {}), *VARIANTS.values()]))
    same = {"residual", "alpha"} & {*additions}
    hidden = (draw(WIDTHS),) * draw(st.integers(2, 3)) if same else \
        tuple(draw(st.lists(WIDTHS, min_size=1, max_size=2)))
    if name in ("mixhop", "sign"):
        hidden = (*hidden, 4, 3)[:3]
    dropout = draw(st.sampled_from([0.0, 0.5]))
    network = model_network(name, graph.features.shape[1], hidden, graph.classes,
                            dropout=dropout, **additions)
    either = st.sampled_from([COMBINE_FIRST, AGGREGATE_FIRST])
    # Input features that are aggregated first have no dropout.
    orders = [COMBINE_FIRST if dropout and not network.source(number) else draw(either)
              for number in range(1, len(network.layers) + 1)]
    network = network.with_orders(order if order in layer.orders else layer.orders[0]
                                  for order, layer in zip(orders, network.layers, strict=True))
    recipe = Recipe(normalisation=MODELS[name].normalisation, weight_decays=(0.0,),
                    element_width=config.element_width, seed=draw(st.integers(0, 2**40)))
    return network, config, _samples(draw, graph, network, recipe, name), recipe


def _samples(draw, graph, network, recipe, name):
    matrix = graph.normalise(MODELS[name].normalisation)
    layers = sum(layer.order != LINEAR for layer in network.layers)
    seed = draw(st.integers(0, 2**32 - 1))
    kind = draw(st.sampled_from([None, *DRAWS]))
    targets = np.flatnonzero(graph.splits == Split.TRAIN)
    try:
        if kind:
            draws = DRAWS[kind](matrix, draw(st.integers(1, matrix.shape[0] // 3 + 1)))
            sampler = SaintSampler(matrix, draws, layers=layers, coverage=2, seed=seed)
        else:
            fan_outs = [draw(st.integers(1, 5)) for _ in range(layers)]
            sampler = NeighbourSampler(matrix, targets, fan_outs,
                                       batch_size=draw(st.integers(1, len(targets))), seed=seed)
        make = SampleMaker(network, recipe, graph, sampler)
        return [make(sampler.batch(0, number)) for number in range(min(len(sampler), 3))]
    except ValueError as error:
        assume(not any(reason in str(error) for reason in NO_SAMPLES))
        raise


def check_any(training):
    """Check a training, unless its numbers grow too large on the reference."""
    try:
        check(*training)
    except ArithmeticError:
        assume(False)


@settings(max_examples=15, deadline=None)
@given(sampled_trainings())
def test_random_sampled_trainings(training):
    check_any(training)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(sampled_trainings())
def test_many_random_sampled_trainings(training):
    check_any(training)
