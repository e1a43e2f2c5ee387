# SPDX-License-Identifier: BSD-2-Clause
"""What the cocotb benches share: starting a design, stream agents, and running under pytest."""

import os
from itertools import cycle

import cocotb
import pytest
from amaranth.back import rtlil
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from cocotbext.axi.stream import define_stream

from hypercast.rtl.export.verilog import write_verilog
from hypercast.sim.cocotb_runner import run
from hypercast.sim.simulators import missing

__all__ = ["PAUSES", "Stream", "hold_monitor", "require", "simulate", "sink", "source", "start"]

#: Pause patterns, by name: nobody ever waits, or three of four cycles are lost.
PAUSES = {"free": None, "paused": (1, 1, 1, 0)}

_Bus, Stream, _Source, _Sink, _ = define_stream(
    "Stream", signals=["valid", "ready", "payload"], signal_widths={"valid": 1, "ready": 1})


def require(simulator):
    """Skip the test if ``simulator`` is not installed; fail it where it must be (``.ci/run``)."""
    reason = missing(simulator)
    if reason and os.environ.get("HYPERCAST_REQUIRE_SIMULATORS"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


def simulate(simulator, dut, *, module, test=None):
    """Convert the component ``dut`` to Verilog and run the cocotb tests of ``module`` on it."""
    require(simulator)
    run(simulator, write_verilog(rtlil.convert(dut, name="dut")), top="dut", module=module,
        test=test)


async def start(dut):
    """Start the clock and reset the design."""
    Clock(dut.clk, 10, unit="ns").start()
    dut.rst.value = 1
    for _ in range(2):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    await RisingEdge(dut.clk)


def source(dut, name, pause="free"):
    """A sender into the design's input stream ``name``, losing cycles as ``PAUSES[pause]``."""
    return _paused(_Source(_Bus.from_prefix(dut, f"{name}_"), dut.clk), pause)


def sink(dut, name, pause="free"):
    """A receiver of the design's output stream ``name``, losing cycles as ``PAUSES[pause]``."""
    cocotb.start_soon(hold_monitor(dut, name))
    return _paused(_Sink(_Bus.from_prefix(dut, f"{name}_"), dut.clk), pause)


def _paused(agent, pause):
    if PAUSES[pause] is not None:
        agent.set_pause_generator(cycle(PAUSES[pause]))
    return agent


async def hold_monitor(dut, name):
    """Fail if output stream ``name`` withdraws or changes what it offers, or offers an X."""
    valid, ready, payload = (
        getattr(dut, f"{name}__{member}") for member in ("valid", "ready", "payload"))
    held = None
    while True:
        await RisingEdge(dut.clk)
        await ReadOnly()
        if held is not None:
            assert valid.value == 1 and payload.value == held, f"{name} did not hold its payload"
        held = None
        if valid.value == 1:
            assert payload.value.is_resolvable, f"{name} offers {payload.value}"
            if ready.value == 0:
                held = payload.value
