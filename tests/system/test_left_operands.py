# SPDX-License-Identifier: BSD-2-Clause
"""Left operands that do not fit the operand buffer: parts of them take turns there, bit for bit."""

import random

import numpy as np
import pytest

from hypercast.host.compiler import lowering, panel_groups, row_windows
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.graphs.graph import Graph
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.rtl.isa import Opcode, OperandSource, decode
from tests.system.chips import SLOW_MEMORY, VARIANTS, GraphTraining, ModelTraining

#: Compiled for other tests, too.
CONFIG = SLOW_MEMORY
#: The same chip, with room for less close to the array.
STRIPS = CONFIG.replace(operand_words=128, program_rows=4096)


def graph(vertices, features, seed=3):
    generator = np.random.default_rng(seed)
    return Graph.from_edges(
        generator.integers(0, vertices, (3 * vertices, 2)),
        generator.normal(size=(vertices, features)), np.arange(vertices) % 5,
        train=range(0, vertices, 2))


def refilled(training, opcode):
    """Places of the operand buffer that are filled with several parts of a matrix."""
    places = {}
    for word in training.job.program:
        fields = decode(word)
        if fields["opcode"] == opcode and fields["operand"] == OperandSource.FILL:
            places.setdefault(fields["operand_base"], set()).add(fields["address"])
    return sum(len(addresses) > 1 for addresses in places.values())


@pytest.fixture(autouse=True)
def however_little_they_gain(monkeypatch):
    for module in (row_windows, panel_groups):
        monkeypatch.setattr(module, "_GAIN", 2.0)


@pytest.mark.grid
@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
@pytest.mark.parametrize("vertices, features, hidden", [
    (64, 100, 24),  # all rows of the accumulators
    (61, 120, 17),  # rows that end within a word of masks, and panels that are not full
    (40, 110, 24),
    (100, 100, 20),  # more rows than the accumulators have
])
def test_windows_of_rows(vertices, features, hidden, orders):
    training = GraphTraining(graph=graph(vertices, features), config=CONFIG, orders=orders,
                             hidden=(hidden,), dropout=0.4 if orders == COMBINE_FIRST else 0.0)
    assert refilled(training, Opcode.MATMUL)
    training.check()


@pytest.mark.grid
@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
@pytest.mark.parametrize("vertices, features, hidden", [(64, 120, 40), (57, 110, 41)])
def test_groups_of_panels(vertices, features, hidden, orders):
    training = GraphTraining(graph=graph(vertices, features), config=CONFIG, orders=orders,
                             hidden=(hidden,))
    assert refilled(training, Opcode.GRADIENT)
    training.check()


@pytest.mark.grid
@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
@pytest.mark.parametrize("vertices, features, hidden", [
    (150, 50, 17),  # the last strip is shorter
    (300, 40, 10),  # a panel of all rows does not fit the buffer
])
def test_groups_of_panels_of_strips(vertices, features, hidden, orders):
    training = GraphTraining(graph=graph(vertices, features), config=STRIPS, orders=orders,
                             hidden=(hidden,))
    assert refilled(training, Opcode.GRADIENT)
    training.check()


@pytest.mark.parametrize("model", ["sage", "gin", "gcnii"])
def test_other_models_in_strips(model):
    ModelTraining(graph=graph(140, 40), config=STRIPS, variant=(model, {}), hidden=(20, 20),
                  dropout=0.5).check()


@pytest.mark.grid
@pytest.mark.parametrize("model", ["sage", "gin"])
@pytest.mark.parametrize("hidden", [(20,), (40, 33)])
def test_other_models(model, hidden):
    ModelTraining(graph=graph(60, 90), config=CONFIG, variant=(model, {}), hidden=hidden,
                  dropout=0.3).check()


@pytest.mark.parametrize("seed", range(6))
def test_no_order_gets_stuck(seed, monkeypatch):
    """Whatever takes turns where, each program of strips can be issued to its end."""
    draw = random.Random(seed)
    monkeypatch.setattr(lowering, "SWEEPS", (draw.choice([0, 1, 2, 3]),))
    config = STRIPS.replace(operand_words=draw.choice([32, 64, 256]))
    training = ModelTraining(
        graph=graph(draw.randint(40, 110), draw.randint(5, 50), seed), config=config,
        variant=list(VARIANTS.values())[draw.randrange(len(VARIANTS))], hidden=(16, 16, 16),
        dropout=draw.choice([0.0, 0.5]))
    compile_job(training.model(), config)


def test_a_program_that_would_be_too_long_lets_nothing_take_turns(monkeypatch):
    """The compiler and the cycle model alike."""
    model = GraphTraining(graph=graph(64, 120), config=CONFIG, orders=COMBINE_FIRST,
                          hidden=(40,)).model()

    def made(rows):
        config = CONFIG.replace(program_rows=rows)
        return len(compile_job(model, config).program), predict(Workload.of_model(model, config))

    (short, without), (long, turning) = made(256), made(512)
    assert short <= 256 < long
    for module in (row_windows, panel_groups):
        monkeypatch.setattr(module, "_GAIN", 0.0)
    assert made(512) == (short, without)
    assert turning.work != without.work
