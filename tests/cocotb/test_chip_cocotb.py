# SPDX-License-Identifier: BSD-2-Clause
"""The whole chip's Verilog under cocotb with Verilator, through its AXI4-Lite port.

``tests/examples`` trains the same Verilog on Verilator in every ``make test``.
"""

import random

import cocotb
import numpy as np
import pytest
from cocotb.task import bridge

from hypercast.benches.bits import run_verilated
from hypercast.benches.trainings import BenchTraining
from hypercast.host.runtime.driver import Driver
from hypercast.rtl.chip import CORE_MODULE
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.chip_conversion import to_verilog
from hypercast.rtl.export.export_options import TOP_MODULE
from hypercast.rtl.registers import Space
from hypercast.sim.cocotb_runner import run
from hypercast.sim.cocotb_transport import CocotbTransport
from tests.cocotb.benches import require

pytestmark = pytest.mark.slow

CONFIG = PRESETS["tiny"]
DEPTHS = {Space.FEATURES: CONFIG.channel_words, Space.GRADIENTS: CONFIG.channel_words,
          Space.WEIGHTS: CONFIG.weight_rows}


def exercise(transport):
    """Identify the chip, then write and read back the ends of every memory of every core."""
    driver = Driver(transport, CONFIG)
    written = {
        (core, space, address): np.array(
            [[random.getrandbits(32) for _ in range(CONFIG.chunks)]], dtype=np.uint32)
        for core in range(CONFIG.cores) for space, depth in DEPTHS.items()
        for address in (0, 1, depth - 1)}
    for place, words in written.items():
        driver.write_words(*place, words)
    for place, words in written.items():
        assert np.array_equal(driver.read_words(*place, 1), words), place


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def memories(dut):
    transport = CocotbTransport(dut)
    await transport.reset()
    await bridge(exercise)(transport)


def test_memories_through_the_port():
    require("verilator")
    run("verilator", to_verilog(CONFIG), top=TOP_MODULE, block=CORE_MODULE, module=__name__)


def test_training_equals_the_reference():
    require("verilator")
    result = run_verilated(BenchTraining(dataset="karate", config=CONFIG, epochs=2, hidden=(4,)))
    assert result["equal"] == result["words"] > 0
