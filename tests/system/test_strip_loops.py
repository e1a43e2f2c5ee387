# SPDX-License-Identifier: BSD-2-Clause
"""Programs with loops over strips: what they leave is what unrolled ones leave, bit for bit."""

import numpy as np
import pytest

from hypercast.host.compiler.instruction import IssuedLoop
from hypercast.host.compiler.lowering import Program
from hypercast.host.graphs.graph import Graph
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.rtl.isa import Opcode, decode
from hypercast.rtl.loop import unroll
from tests.system.chips import VARIANTS, GraphTraining, ModelTraining
from tests.system.test_many_strips import CONFIG, graph

#: Room for no program of 500 vertices without loops.
SHORT = CONFIG.replace(program_rows=512)


def loops(training):
    """LOOPs of a training's programs."""
    return [one for one in map(decode, training.job.program) if one["opcode"] == Opcode.LOOP]


def edge_words(training):
    """Words of each strip's edges."""
    [words] = {region.words for name, region in training.job.regions.items()
               if str(name).startswith("edge set")}
    return words


@pytest.fixture
def only_loops(monkeypatch):
    """Loops are taken wherever there can be some, though they may take more cycles."""
    cycles = Program.step_cycles
    monkeypatch.setattr(Program, "step_cycles", lambda program, starts: cycles(program, starts) + (
        0 if any(isinstance(part, IssuedLoop) for part in program.emitter.schedule.parts)
        else 1 << 40))


@pytest.mark.grid
@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
@pytest.mark.parametrize("vertices, degree, communities, hidden", [
    (500, 2, 1, (10,)), (493, 2, 9, (17, 9)), (300, 20, 1, (33,))])
def test_trainings(vertices, degree, communities, hidden, orders, only_loops):
    training = GraphTraining(graph=graph(vertices, degree, communities=communities), config=CONFIG,
                             orders=orders, hidden=hidden,
                             dropout=0.4 if orders == COMBINE_FIRST else 0.0)
    assert loops(training)
    training.check()


def test_a_hub():
    """A strip has many more edges than any other, and all lists are as long as its own."""
    even = graph(500, 2)
    ends = np.stack(even.edges.nonzero(), axis=1)
    spokes = np.stack([np.zeros(499, dtype=int), np.arange(1, 500)], axis=1)
    hub = Graph.from_edges(np.concatenate([ends[ends[:, 0] < ends[:, 1]], spokes]), even.features,
                           even.labels, train=range(0, 500, 2))
    without, training = (GraphTraining(graph=one, config=SHORT, hidden=(10,))
                         for one in (even, hub))
    assert loops(training) and 2 * edge_words(without) < edge_words(training)
    training.check()


@pytest.mark.parametrize("variant", VARIANTS)
def test_models(variant, only_loops):
    training = ModelTraining(graph=graph(170, 2), config=CONFIG, variant=VARIANTS[variant],
                             hidden=(12, 12))
    assert loops(training)
    training.check()


@pytest.mark.grid
@pytest.mark.parametrize("features, density", [(70, 0.02), (70, 1.0), (3, 1.0)])
@pytest.mark.parametrize("vertices", [33, 65, 161])
def test_features(vertices, features, density, only_loops):
    """Two strips and more; one core has one row of the last one, and the other has none."""
    training = GraphTraining(graph=graph(vertices, 2, features=features, density=density),
                             config=CONFIG, hidden=(19,), dropout=0.5)
    assert loops(training)
    training.check()


@pytest.mark.parametrize("vertices, hidden, words", [(258, (70, 20), 256), (650, (33,), 512)])
def test_windows_beyond_the_last_row(vertices, hidden, words, only_loops):
    """A shorter last strip has as many windows as the others: some of them have no rows."""
    training = GraphTraining(
        graph=graph(vertices, 2, features=70), hidden=hidden, dropout=0.5,
        config=CONFIG.replace(accumulator_rows=64, operand_words=words))
    job = training.job
    assert any(entry["row_start"] > len(job.plan.rows_of(entry["vertices"]))
               for entry in (decode(one.word) for one in unroll(job.program) if one.looped)
               if entry["opcode"] == Opcode.MATMUL)
    training.check()
