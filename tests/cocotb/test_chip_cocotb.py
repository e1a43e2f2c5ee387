"""The whole chip under cocotb with Verilator, through its AXI4-Lite port."""

import random

import cocotb
from cocotb.task import bridge

from hypercast.host.benches.bits import run_verilated
from hypercast.host.benches.trainings import Training
from hypercast.host.driver import Driver
from hypercast.rtl.config import PRESETS
from hypercast.rtl.netlist import to_verilog
from hypercast.rtl.registers import CoreSpace, Space
from hypercast.sim.cocotb_runner import run
from hypercast.sim.cocotb_transport import CocotbTransport
from tests.cocotb.benches import require

CONFIG = PRESETS["tiny"]


def exercise(transport):
    """Identify the chip, then write and read back the ends of every memory of every core."""
    driver = Driver(transport, CONFIG)
    depths = {Space.FEATURES: CONFIG.channel_words, Space.GRADIENTS: CONFIG.channel_words,
              Space.WEIGHTS: CONFIG.weight_rows}
    written = {}
    for core in range(CONFIG.cores):
        for space, depth in depths.items():
            for address in (0, 1, depth - 1):
                written[core, space, address] = random.getrandbits(32)
    for core in range(CONFIG.cores):
        for row in range(4):
            written[core, Space.CORE, CoreSpace.ROWS + row] = random.getrandbits(12)
    for (core, space, address), value in written.items():
        driver._write_window(core, space, address, [value])
    for (core, space, address), value in written.items():
        assert driver._read_window(core, space, address, 1) == [value], (core, space, address)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def memories(dut):
    transport = CocotbTransport(dut)
    await transport.reset()
    await bridge(exercise)(transport)


def test_chip_under_verilator():
    require("verilator")
    run("verilator", to_verilog(CONFIG), top="hypercast", block="hypercast_core", module=__name__)


def test_training_under_verilator_equals_the_reference():
    require("verilator")
    result = run_verilated(Training(dataset="karate", config=CONFIG, epochs=2))
    assert result["equal"] == result["words"] > 0
