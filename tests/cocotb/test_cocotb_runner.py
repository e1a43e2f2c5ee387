# SPDX-License-Identifier: BSD-2-Clause
"""The cocotb runner itself, on a stream FIFO: both simulators, and what a failure looks like."""

import random

import cocotb
import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.sim.cocotb_runner import SimulationError, run
from hypercast.sim.simulators import SIMULATORS, missing
from tests.cocotb.benches import PAUSES, Stream, require, simulate, sink, source, start

WIDTH = 12


class Queue(wiring.Component):
    """A FIFO as a stream component."""

    i: In(stream.Signature(WIDTH))
    o: Out(stream.Signature(WIDTH))

    def elaborate(self, platform):
        m = Module()
        m.submodules.fifo = fifo = SyncFIFOBuffered(width=WIDTH, depth=4)
        connect(m, flipped(self.i), fifo.w_stream)
        connect(m, fifo.r_stream, flipped(self.o))
        return m


@cocotb.test(timeout_time=100, timeout_unit="us")
@cocotb.parametrize(source_pause=list(PAUSES), sink_pause=list(PAUSES))
async def keeps_order(dut, source_pause, sink_pause):
    await start(dut)
    sent = [random.getrandbits(WIDTH) for _ in range(100)]
    into, out = source(dut, "i", source_pause), sink(dut, "o", sink_pause)
    for value in sent:
        into.send_nowait(Stream(payload=value))
    received = [int((await out.recv()).payload) for _ in sent]
    assert received == sent


@cocotb.test(timeout_time=1, timeout_unit="us")
async def hangs(dut):
    await start(dut)
    await sink(dut, "o").recv()


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_stream_agents_under_every_pause(simulator):
    simulate(simulator, Queue(), module=__name__, test="keeps_order")


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_hang_fails_with_the_log(simulator):
    with pytest.raises(SimulationError, match=r"(?s)simulation\.log.*SimTimeoutError"):
        simulate(simulator, Queue(), module=__name__, test="hangs")


def test_an_unknown_simulator_is_named():
    with pytest.raises(ValueError, match="not 'modelsim'"):
        missing("modelsim")


def test_a_design_that_does_not_compile():
    require("icarus")
    with pytest.raises(SimulationError, match=r"(?s)could not build top.*build\.log.*error"):
        run("icarus", "module top(", top="top", module=__name__)


def test_no_test_is_a_failure():
    with pytest.raises(SimulationError, match="0 of 0 failed"):
        simulate("icarus", Queue(), module=__name__, test="does_not_exist")
