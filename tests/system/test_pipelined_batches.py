# SPDX-License-Identifier: BSD-2-Clause
"""A step that aggregates the next batch's features does the work predicted, on the chip."""

from functools import partial

from hypercast.benches.steps import synthetic_graph
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.reduction import gradient_digits
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.training.prepare import prepare
from hypercast.reference.network import AGGREGATE_FIRST, Network
from hypercast.reference.recipe import Recipe
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.system.chips import WIDE


def step(model, *, ahead):
    """Counters and cycles of a training step that finds its sums there if it works ahead."""
    job = compile_job(model, WIDE, ahead=ahead)
    device = AloneChip(CxxrtlTransport(WIDE), job, model)
    try:
        device.train_step()
        before = device.train_cycles
        device.train_step()
        return device.counters, device.train_cycles - before
    finally:
        device.close()


def test_work_and_cycles():
    """The graph is the next batch, too."""
    network = Network.of_widths([12, 16, 4], orders=AGGREGATE_FIRST)
    model = prepare(synthetic_graph(60, 240, 12, 4), network, Recipe(epochs=2))
    _, alone = step(model, ahead=False)
    counters, cycles = step(model, ahead=True)

    work = predict(Workload.of_batch(
        [model.sample.edges[0]] * 2, network, WIDE, pipelined=True,
        digits=partial(gradient_digits, model, WIDE))).work
    for counter in ("array_words", "edges", "sent", "features_written"):
        assert sum(counters[counter]) == work[counter], counter
    assert cycles < alone
