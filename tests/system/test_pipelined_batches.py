"""A step that aggregates the next batch's features does the work predicted, on the chip."""

from functools import partial

from hypercast.host.benches.steps import synthetic_graph
from hypercast.host.compiler import compiler, layout
from hypercast.host.compiler.lowering import Program
from hypercast.host.compiler.reduction import gradient_digits
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.training.prepare import open_device, prepare
from hypercast.reference.network import AGGREGATE_FIRST, Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import Kind, Pass, Tensor
from tests.host.models import with_exponent
from tests.system.chips import WIDE

#: Features that are aggregated for the next batch.
FOLLOWING = Tensor(Kind.AGGREGATED, 1, Pass.NEXT)


def step(model):
    """Counters and cycles of a training step."""
    device = open_device("rtl", model, WIDE)
    try:
        device.train_step()
        return device.counters, device.train_cycles
    finally:
        device.close()


def test_work_and_cycles(monkeypatch):
    """The graph is the next batch, too."""
    network = Network.of_widths([12, 16, 4], orders=AGGREGATE_FIRST)
    model = prepare(synthetic_graph(60, 240, 12, 4), network, Recipe(epochs=1))
    _, alone = step(model)

    place = layout.place_tensors

    def place_tensors(network, memory, config):
        place(network, memory, config)
        memory.matrix(FOLLOWING, memory.regions["M1"].channel, network.features)

    monkeypatch.setattr(layout, "place_tensors", place_tensors)
    monkeypatch.setattr(compiler, "Program", partial(Program, ahead=True))
    exponent, _ = model.state.exponents[FOLLOWING.of_training]
    counters, cycles = step(with_exponent(model, FOLLOWING, exponent))

    work = predict(Workload.of_batch(
        [model.sample.edges[0]] * 2, network, WIDE, pipelined=True,
        digits=partial(gradient_digits, model, WIDE))).work
    for counter in ("array_words", "edges", "sent", "features_written"):
        assert sum(counters[counter]) == work[counter], counter
    assert cycles < alone
