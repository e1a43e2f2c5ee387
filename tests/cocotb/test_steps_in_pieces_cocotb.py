# SPDX-License-Identifier: BSD-2-Clause
"""Steps in pieces on the chip's Verilog: the bits of the reference, through the AXI4-Lite port."""

import cocotb
import pytest
from cocotb.task import bridge

from hypercast.reference.recipe import Recipe
from hypercast.rtl.chip import CORE_MODULE
from hypercast.rtl.export.chip_conversion import to_verilog
from hypercast.rtl.export.export_options import TOP_MODULE
from hypercast.sim.cocotb_runner import run
from hypercast.sim.cocotb_transport import CocotbTransport
from tests.cocotb.benches import require
from tests.system.chips import NARROW
from tests.system.test_sampled_training import network_of, samples_of
from tests.system.test_shared_graph import check as check_shared
from tests.system.test_steps_in_pieces import check

pytestmark = pytest.mark.slow


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def pieces(dut):
    transport = CocotbTransport(dut)
    await transport.reset()
    network = network_of("gcn")
    recipe = Recipe(element_width=NARROW.element_width)
    samples = samples_of(network, recipe, "gcn")
    await bridge(check)(network, NARROW, samples, recipe, transport=transport)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def shared_graph(dut):
    transport = CocotbTransport(dut)
    await transport.reset()
    await bridge(check_shared)(NARROW, transport=transport, vertices=20)


def test_pieces_through_the_port():
    require("verilator")
    run("verilator", to_verilog(NARROW), top=TOP_MODULE, block=CORE_MODULE, module=__name__)
