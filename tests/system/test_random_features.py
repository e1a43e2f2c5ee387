# SPDX-License-Identifier: BSD-2-Clause
"""Any input features train on the chip as on the reference, however they are stored and kept."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.graphs.graph import Graph
from hypercast.reference.network import COMBINE_FIRST
from tests.system.chips import (
    NARROW,
    ONE_CORE,
    SLOW_MEMORY,
    WIDE,
    GraphTraining,
    ModelTraining,
)

#: Chips, and features up to which a small network's weights fit.
CONFIGS = {"narrow": (NARROW, 110), "wide": (WIDE, 160), "slow memory": (SLOW_MEMORY, 160),
           "one core": (ONE_CORE, 600)}


@st.composite
def features(draw, vertices, lanes, operand_words, columns):
    """Features of which some words are not zero, at random, around what a buffer holds, or all."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    panels = -(-columns // lanes)
    words = vertices * panels
    count = draw(st.one_of(
        st.integers(0, words // 2).map(lambda more: operand_words + more),
        st.integers(-3, 3).map(lambda more: operand_words + more),
        st.integers(0, words)))
    values = np.zeros((vertices, panels * lanes))
    chosen = generator.permutation(words)[:min(max(count, 1), words)]
    lane = generator.integers(0, lanes, len(chosen))
    values[chosen // panels, chosen % panels * lanes + lane] = generator.normal(size=len(chosen))
    if draw(st.booleans()):
        values[generator.integers(0, vertices)] = generator.normal(size=panels * lanes)
    if draw(st.booleans()):  # panels without any
        first, last = sorted(generator.integers(0, panels + 1, 2))
        values[:, first * lanes:last * lanes] = 0
    values = values[:, :columns]
    values[0, 0] = 1.0
    return values


@st.composite
def trainings(draw):
    """A small network on random features, on any of the chips."""
    config, most = draw(st.sampled_from(list(CONFIGS.values())))
    # About as many rows as the accumulators have: one strip, or two.
    most_vertices = config.cores * config.accumulator_rows
    vertices = draw(st.integers(most_vertices // 2, most_vertices + 3) | st.integers(1, 20))
    columns = draw(st.integers(most // 2, most) | st.integers(1, 20))
    values = draw(features(vertices, config.lanes, config.operand_words, columns))
    edges = np.random.default_rng(draw(st.integers(0, 99))).integers(
        0, vertices, (draw(st.integers(0, 3 * vertices)), 2))
    graph = Graph.from_edges(edges, values, np.arange(vertices) % draw(st.integers(1, 12)),
                             train=range(0, vertices, 2))
    shape = {"graph": graph, "config": config, "hidden": (draw(st.integers(1, 6)),),
             "dropout": draw(st.sampled_from([0.0, 0.5]))}
    if draw(st.booleans()):
        return GraphTraining(orders=COMBINE_FIRST, recipe={"weight_decays": (0.0,)}, **shape)
    return ModelTraining(variant=draw(st.sampled_from([("sage", {}), ("gin", {})])), **shape)


def check(training):
    try:
        compile_job(training.model(), training.config)
    except CapacityError:
        assume(False)
    training.check()


@settings(max_examples=20)
@given(trainings())
def test_random_features(training):
    check(training)


@pytest.mark.slow
@settings(max_examples=600)
@given(trainings())
def test_many_random_features(training):
    check(training)
