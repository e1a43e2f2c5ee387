# SPDX-License-Identifier: BSD-2-Clause
"""Any small network on any small graph trains on the chip as the reference does, word by word."""

from contextlib import closing

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.chip_transport import open_transport
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.reference.exponents import AlignmentError, ExponentError
from hypercast.reference.models import MODELS
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from tests.system.chips import (
    NARROW,
    ONE_CORE,
    SLOW_MEMORY,
    VARIANTS,
    WIDE,
    GraphTraining,
    ModelTraining,
    random_graph,
)

WIDTHS = st.integers(1, 9)
CONFIGS = st.sampled_from([NARROW, WIDE, SLOW_MEMORY, ONE_CORE])
SEEDS = st.integers(0, 2**40)


@st.composite
def graphs(draw):
    """Any small graph."""
    vertices = draw(st.integers(1, 45))
    return random_graph(
        vertices, draw(st.integers(0, 120)), features=draw(WIDTHS),
        classes=draw(st.integers(1, min(vertices, 6))), directed=draw(st.booleans()),
        isolated=draw(st.integers(0, 5)), seed=draw(st.integers(0, 2**32 - 1)))


@st.composite
def graph_trainings(draw):
    """Any small network on any small graph."""
    hidden = tuple(draw(st.lists(WIDTHS, max_size=2)))
    dropout = draw(st.sampled_from([0.0, 0.3, 0.5]))
    either = st.sampled_from([COMBINE_FIRST, AGGREGATE_FIRST])
    first = COMBINE_FIRST if dropout else draw(either)
    return GraphTraining(
        graph=draw(graphs()), config=draw(CONFIGS), hidden=hidden, dropout=dropout,
        orders=(first, *(draw(either) for _ in hidden)),
        recipe={"normalisation": draw(st.sampled_from(["symmetric", "mean", "given"])),
                "weight_decays": (0.0,), "seed": draw(SEEDS),
                "headroom": draw(st.integers(0, 3)), "feature_headroom": draw(st.integers(-3, 3)),
                "gradient_headroom": draw(st.integers(0, 3))})


@st.composite
def model_trainings(draw):
    """Any small model on any small graph."""
    variant = draw(st.sampled_from(list(VARIANTS.values())))
    alike = {"residual", "alpha"} & {*variant[1]}
    hidden = (draw(WIDTHS),) * draw(st.integers(2, 3)) if alike else tuple(draw(st.lists(
        WIDTHS, min_size=max(MODELS[variant[0]].least, 1), max_size=3)))
    return ModelTraining(
        graph=draw(graphs()), config=draw(CONFIGS), variant=variant, hidden=hidden,
        dropout=draw(st.sampled_from([0.0, 0.5])),
        recipe={"normalisation": draw(st.sampled_from(
            ["symmetric", "mean", "given", "neighbours", "sum"])),
            "gin_epsilon": draw(st.sampled_from([0.0, 0.3])), "seed": draw(SEEDS),
            "headroom": draw(st.integers(0, 3)), "feature_headroom": draw(st.integers(-3, 3)),
            "gradient_headroom": draw(st.integers(0, 3))})


#: The first layer's outputs, which GCNII adds, have become zeros: their exponent is from before.
ZEROS = ModelTraining(
    graph=random_graph(1, 0, features=1, classes=1), config=NARROW, hidden=(1, 1, 1), dropout=0.0,
    variant=VARIANTS["gcnii"], recipe={"headroom": 3, "feature_headroom": 0,
                                       "gradient_headroom": 0})


def check(training):
    """Check a training; where exponents of the reference do not fit, those of the chip do not."""
    try:
        training.check()
    except (ExponentError, AlignmentError):
        with closing(AloneChip(open_transport("rtl", training.config), training.job,
                               training.model())) as chip, \
                pytest.raises(DeviceError, match=r"EXPONENT|ALIGNMENT"):
            for _ in range(training.epochs):
                chip.train_step()
            chip.evaluate()


@settings(max_examples=15)
@given(graph_trainings() | model_trainings())
@example(ZEROS)
def test_random_trainings(training):
    check(training)


@pytest.mark.slow
@settings(max_examples=800)
@given(graph_trainings() | model_trainings())
def test_many_random_trainings(training):
    check(training)
