"""What ``rtl.verilog`` writes simulates like the design it came from."""

import cocotb
import pytest
from amaranth.hdl import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from cocotb.triggers import Timer

from hypercast.rtl.verilog import write_verilog
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


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_constant_field_beside_a_switched_one(simulator):
    simulate(simulator, PartlyConstant(), module=__name__)


def test_yosys_says_what_is_wrong():
    with pytest.raises(RuntimeError, match="ERROR"):
        write_verilog("this is no RTLIL\n")
