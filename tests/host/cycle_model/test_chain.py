# SPDX-License-Identifier: BSD-2-Clause
"""No order of a program's instructions takes fewer cycles than its chain."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.compiler.execution import execute
from hypercast.host.compiler.instruction import Accumulators
from hypercast.host.compiler.issue_order import CHAINED
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.timing import Duration
from hypercast.host.compiler.vertices import strips_of
from hypercast.host.cycle_model.chain import KeptSchedule, chain_cycles
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.reference.models import model_network
from hypercast.reference.network import Network
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import DrainSource, Opcode

CONFIG = PRESETS["test"].replace(weight_rows=4096, tensors=256)
FOLLOWING = (Opcode.AGGREGATE, Opcode.MATMUL, Opcode.GRADIENT)
TAKING = {Opcode.MATMUL: DrainSource.ARRAY, Opcode.AGGREGATE: DrainSource.AGGREGATION}


def added(schedule, program):
    """The schedule, with (opcode, cycles, reads, writes and more fields) of each instruction."""
    for opcode, cycles, reads, writes, more in program:
        schedule.add(opcode, phase=0, duration=Duration(cycles=cycles, **more.get("ends", {})),
                     reads=reads, writes=writes, edge_set=0,
                     **{name: value for name, value in more.items() if name != "ends"})
    schedule.halt(phase=0, step=0)
    return schedule


def chain(*program):
    [kept] = added(KeptSchedule(), program).added.values()
    return chain_cycles(kept)


def one(opcode, cycles, reads="", writes="", **more):
    return opcode, cycles, set(reads), set(writes), more


def test_engines_do_one_after_the_other():
    assert chain() == 0
    assert chain(one(Opcode.MATMUL, 30), one(Opcode.GRADIENT, 50), one(Opcode.AGGREGATE, 70)) == 80


def test_what_depends_on_each_other():
    first, last = one(Opcode.MATMUL, 30, "a", "b"), one(Opcode.AGGREGATE, 70, "b", "c")
    assert chain(first, last) == 100
    assert chain(last, first) == 100  # which overwrites what the other one reads
    assert chain(first, one(Opcode.AGGREGATE, 70, "", "b")) == 100
    assert chain(first, one(Opcode.AGGREGATE, 70, "a")) == 70
    array = Accumulators(DrainSource.ARRAY)
    assert chain(*(one(Opcode.MATMUL, 30, accumulators=array) for _ in range(2)),
                 one(Opcode.DRAIN, 9, accumulators=array)) == 69


@pytest.mark.parametrize("panels", [1, 2, 5])
def test_aggregations_of_two_layers_with_the_loss_between(panels):
    """Two engines at work on panels, which all have to be there for the loss, and back."""
    program = []
    for panel in map(str, range(panels)):
        program += [one(Opcode.MATMUL, 20, "x", {f"m{panel}"}),
                    one(Opcode.AGGREGATE, 100, {f"m{panel}"}, {f"l{panel}"})]
    logits = {f"l{panel}" for panel in range(panels)}
    program.append(one(Opcode.LOSS, 50, logits, "g"))
    for panel in map(str, range(panels)):
        program += [one(Opcode.AGGREGATE, 40, "g", {f"b{panel}"}),
                    one(Opcode.GRADIENT, 10, {f"b{panel}"}, {f"w{panel}"})]
    assert chain(*program) == 20 + 100 * panels + 50 + 40 * panels + 10
    kept = added(KeptSchedule(), program)
    # Without the issue of single instructions, the order is as fast as that.
    assert execute(kept.issued, 1)[0] <= chain(*program) + 9 * len(program)


@pytest.mark.parametrize("visible", [0, 4])
def test_what_follows_stores_ends_after_the_last_of_them(visible):
    stores = one(Opcode.DRAIN, 200, "", "a", ends={"visible": visible})
    follower = one(Opcode.MATMUL, 60, "a", "b", follows={"a"})
    assert chain(stores, follower, one(Opcode.LOSS, 30, "b")) == 200 - visible + 30 + visible
    assert chain(stores, follower, one(Opcode.AGGREGATE, 70, "b")) == 200 - visible + 70
    assert execute(added(Schedule(), [stores, follower, one(Opcode.AGGREGATE, 70, "b")]).issued,
                   1)[0] >= 200 - visible + CHAINED + 70
    longer = one(Opcode.MATMUL, 500, "a", "b", follows={"a"})
    assert chain(stores, longer) == 500


names = st.sets(st.sampled_from("abcdefgh"), max_size=3)
lengths = st.integers(1, 300)
steps = st.lists(st.tuples(
    st.sampled_from([*TAKING, Opcode.LOSS, Opcode.DRAIN, Opcode.GRADIENT]), lengths, names, names,
    st.integers(0, 20), st.booleans(), lengths, names), max_size=14)
rates = st.dictionaries(st.sampled_from(["channel 0", "aggregators"]), st.integers(1, 200))


@settings(max_examples=60, deadline=None)
@given(steps, rates, st.integers(0, 2))
def test_no_order_is_faster(drawn, demands, trials):
    program = []
    for opcode, cycles, reads, writes, visible, follows, drained, stored in drawn:
        following = follows and opcode in FOLLOWING
        ends = {"visible": visible, "demands": {
            name: min(count, cycles) for name, count in demands.items()}}
        more = {"ends": ends, "follows": reads if following else ()}
        if opcode in TAKING:
            accumulators = Accumulators(TAKING[opcode])
            program += [one(opcode, cycles, reads, accumulators=accumulators, **more),
                        one(Opcode.DRAIN, drained, "", stored, accumulators=accumulators,
                            ends=ends)]
        else:
            program.append(one(opcode, cycles, reads, writes - reads if following else writes,
                               **more))
    found = chain(*program)
    assert execute(added(Schedule(trials), program).issued, 1)[0] >= found
    assert found >= max((sum(cycles for opcode, cycles, *_ in program if opcode in engine)
                         for engine in ((Opcode.AGGREGATE,), (Opcode.MATMUL, Opcode.GRADIENT),
                                        (Opcode.DRAIN, Opcode.LOSS))), default=0)


@st.composite
def workloads(draw):
    """Steps on graphs and samples by numbers, on chips with small and with large buffers."""
    config = CONFIG.replace(**{name: draw(st.sampled_from(values)) for name, values in {
        "lanes": (2, 4, 8), "dimensions": (0, 1, 2, 3), "eject": (1, 2),
        "accumulator_rows": (16, 64, 256), "row_counts": (16, 64), "bypass_rows": (16, 256),
        "operand_words": (64, 512),
        "memory_stalls": (False, True), "memory_latency": (1, 30)}.items()})
    name = draw(st.sampled_from(["gcn", "sage", "gin", "gcnii"]))
    network = model_network(name, draw(st.integers(1, 40)),
                            (draw(st.integers(1, 20)),) * draw(st.integers(1, 2)),
                            draw(st.integers(2, 9)))
    network = network.with_orders(draw(st.sampled_from(layer.orders)) for layer in network.layers)
    layers, vertices = len(network.layers), draw(st.integers(2, 120))
    sampled = draw(st.booleans())
    counts = [max(1, vertices >> level) for level in range(layers + 1)] if sampled else \
        [vertices] * (layers + 1)
    asked = Workload.of_statistics(
        counts, [count * draw(st.integers(1, 9)) for count in counts[1:]] if sampled else
        [vertices * draw(st.integers(1, 9))] * layers, network, config, sampled=sampled,
        pipelined=draw(st.booleans()), resident=draw(st.booleans()))
    if draw(st.booleans()):
        return asked
    strips, panels = strips_of(vertices, config), -(-network.features // config.lanes)
    return replace(asked, words=np.random.default_rng(vertices).integers(
        1, min(strip.rows for strip in strips) + 1, (config.cores, len(strips), panels)))


@settings(max_examples=8, deadline=None)
@given(workloads(), st.sampled_from([0, 1]))
def test_steps_take_at_least_both_bounds(asked, trials):
    prediction = predict(asked, trials=trials)
    assert prediction.cycles >= prediction.chain > 0
    assert prediction.cycles >= prediction.bound > 0


def test_the_chain_is_of_the_step_not_of_the_order():
    """One strip of rows: however hard the schedule tries, the instructions are the same."""
    asked = Workload.of_statistics([70] * 3, [300] * 2, Network.of_widths([9, 6, 3]), CONFIG)
    [found] = {predict(asked, trials=trials).chain for trials in (0, 1, 12)}
    assert 0.7 < found / predict(asked).cycles < 1
