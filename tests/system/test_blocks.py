# SPDX-License-Identifier: BSD-2-Clause
"""Strips of several blocks: more rows are aggregated at once than the array multiplies."""

import pytest

from hypercast.host.compiler.instruction import IssuedLoop
from hypercast.host.compiler.lowering import Program
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.isa import DrainSource, Opcode, decode
from hypercast.rtl.loop import unroll
from tests.system import test_sampled_training, test_shared_graph, test_steps_in_pieces
from tests.system.chips import VARIANTS, GraphTraining, ModelTraining
from tests.system.test_many_strips import CONFIG, graph

#: Four blocks a strip, and places close to the engines for one strip.
BLOCKS = CONFIG.replace(program_rows=8192, channel_words=1 << 16, aggregation_rows=64,
                        bypass_rows=256)
#: Vertices of a block, and of a strip.
BLOCK, STRIP = 16 * BLOCKS.cores, 64 * BLOCKS.cores


@pytest.fixture(params=[False, True], ids=["written out", "in loops"])
def looped(request, monkeypatch):
    """Whether programs are in loops wherever they can be, or never."""
    cycles = Program.step_cycles
    monkeypatch.setattr(Program, "step_cycles", lambda program, starts: cycles(program, starts) + (
        0 if request.param == any(
            isinstance(part, IssuedLoop) for part in program.emitter.schedule.parts)
        else 1 << 40))
    return request.param


def instructions(training):
    """Decoded instructions of a training's programs, in the order in which they are issued."""
    return [decode(one.word) for one in unroll(training.job.program)]


def has_loops(training):
    """Whether a training's programs have loops."""
    return any(decode(word)["opcode"] == Opcode.LOOP for word in training.job.program)


def row_limits(training, opcode, **fields):
    """Rows that instructions name at most."""
    return {one["row_limit"] for one in instructions(training) if one["opcode"] == opcode and all(
        one[name] == value for name, value in fields.items())}


def test_rows_of_instructions():
    training = GraphTraining(graph=graph(2 * STRIP, 2), config=BLOCKS, hidden=(10,))
    assert row_limits(training, Opcode.DRAIN, source=DrainSource.AGGREGATION) == {64}
    for opcode, fields in ((Opcode.MATMUL, {}), (Opcode.GRADIENT, {}),
                           (Opcode.DRAIN, {"source": DrainSource.ARRAY})):
        assert row_limits(training, opcode, **fields) == {16}


@pytest.mark.grid
@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
@pytest.mark.parametrize("vertices, degree, communities, hidden", [
    (4 * STRIP, 2, 1, (10,)), (3 * STRIP + 1, 2, 9, (17, 9)), (2 * STRIP + BLOCK + 5, 9, 1, (33,))])
def test_trainings(vertices, degree, communities, hidden, orders, looped):
    training = GraphTraining(graph=graph(vertices, degree, communities=communities), config=BLOCKS,
                             orders=orders, hidden=hidden,
                             dropout=0.4 if orders == COMBINE_FIRST else 0.0)
    assert has_loops(training) == looped
    training.check()


@pytest.mark.grid
@pytest.mark.parametrize("vertices", [BLOCK + 1, 2 * BLOCK, STRIP - 1, STRIP])
@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
def test_one_strip(vertices, orders):
    """What is sent, and right operands, may bypass memory: blocks begin in their midst."""
    training = GraphTraining(graph=graph(vertices, 3), config=BLOCKS, orders=orders, hidden=(9, 5),
                             dropout=0.3 if orders == COMBINE_FIRST else 0.0)
    assert any(one["opcode"] == Opcode.GRADIENT and one["bypassed"] and one["row_start"]
               for one in instructions(training))
    training.check()


@pytest.mark.grid
@pytest.mark.parametrize("variant", VARIANTS)
def test_models(variant, looped):
    training = ModelTraining(graph=graph(2 * STRIP + BLOCK, 2), config=BLOCKS,
                             variant=VARIANTS[variant], hidden=(12, 12))
    training.check()


@pytest.mark.grid
@pytest.mark.parametrize("features, density", [(70, 0.02), (70, 1.0), (3, 1.0)])
@pytest.mark.parametrize("vertices", [BLOCK + 1, STRIP + 1, 2 * STRIP + BLOCK + 1])
def test_features(vertices, features, density, looped):
    """One core has one row of the last block, and the others have none."""
    training = GraphTraining(graph=graph(vertices, 2, features=features, density=density),
                             config=BLOCKS, hidden=(19,), dropout=0.5)
    training.check()


@pytest.mark.grid
@pytest.mark.parametrize("draw", [None, "nodes"])
@pytest.mark.parametrize("ahead, resident", [(False, False), (True, False), (True, True)])
def test_batches(draw, ahead, resident):
    """Numbers of blocks other than a step has room for; with features that stay, or not."""
    network = Network.of_widths([7, 6, 5], orders=AGGREGATE_FIRST if ahead else COMBINE_FIRST)
    samples = test_sampled_training.samples_of(
        network, Recipe(), "gcn", draw=draw, vertices=3 * STRIP)[:6]
    test_sampled_training.check(network, BLOCKS, samples, Recipe(), ahead=ahead, resident=resident)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_pieces(optimiser):
    network, recipe = Network.of_widths([7, 6, 5]), Recipe(optimiser=optimiser)
    samples = test_sampled_training.samples_of(network, recipe, "gcn", vertices=2 * STRIP)
    test_steps_in_pieces.check(network, BLOCKS, samples, recipe)


@pytest.mark.parametrize("vertices", [2 * BLOCK + 9, 5 * STRIP])
def test_a_graph_that_devices_share(vertices):
    test_shared_graph.check(BLOCKS, vertices=vertices)
