# SPDX-License-Identifier: BSD-2-Clause
"""What ``rtl.verilog`` writes simulates like the design it came from."""

import cocotb
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from cocotb.triggers import Timer

from hypercast.rtl.export.verilog import write_verilog
from hypercast.sim.simulators import SIMULATORS
from tests.cocotb.benches import simulate

CONSTANT, SWITCHED = 5, 0xA


class PartlyConstant(wiring.Component):
    """A structure of which one field is constant and the other is not."""

    select: In(1)
    o: Out(data.StructLayout({"constant": 3, "switched": 4}))

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.constant.eq(CONSTANT)
        with m.If(self.select):
            m.d.comb += self.o.switched.eq(SWITCHED)
        return m


@cocotb.test(timeout_time=1, timeout_unit="us")
async def constant_fields(dut):
    for select in (0, 1):
        dut.select.value = select
        await Timer(1, unit="ns")
        assert int(dut.o.value) == CONSTANT | (SWITCHED if select else 0) << 3


@pytest.mark.parametrize("simulator", [
    "icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_constant_field_beside_a_switched_one(simulator):
    simulate(simulator, PartlyConstant(), module=__name__, test="constant_fields")


class Still(wiring.Component):
    """What follows from a register that never changes, and from a memory that is never read."""

    o: Out(4)
    parity: Out(1)

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=8, depth=4, init=[])
        register, read = Signal(init=1), memory.read_port()
        m.d.comb += [read.en.eq(0), self.parity.eq(read.data.xor())]
        m.d.sync += register.eq(register)
        with m.If(register):
            m.d.comb += self.o.eq(SWITCHED)
        return m


@cocotb.test(timeout_time=1, timeout_unit="us")
async def still(dut):
    await Timer(1, unit="ns")
    assert (str(dut.o.value), str(dut.parity.value)) == (f"{SWITCHED:04b}", "0")


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_what_never_changes_is_known(simulator):
    simulate(simulator, Still(), module=__name__, test="still")


def test_yosys_says_what_is_wrong():
    with pytest.raises(RuntimeError, match="ERROR"):
        write_verilog("this is no RTLIL\n")
