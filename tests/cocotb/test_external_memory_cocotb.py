# SPDX-License-Identifier: BSD-2-Clause
"""The chip with AXI4 managers trains in one external memory, an independent one, word for word."""

import logging
import random

import cocotb
import pytest
from cocotb.task import bridge
from cocotbext.axi import AxiBus, AxiRam

from hypercast.benches.trainings import BenchTraining, compare_training
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.chip_conversion import to_verilog
from hypercast.rtl.export.export_options import ExportOptions
from hypercast.sim.cocotb_runner import run
from hypercast.sim.cocotb_transport import CocotbTransport
from tests.cocotb.benches import require

pytestmark = pytest.mark.slow

OPTIONS = ExportOptions(external=True, top_name="training_chip", prefix="training_")
TRAINING = BenchTraining(dataset="karate", config=PRESETS["tiny"], epochs=1, hidden=(4,))
CHANNELS = 2 * TRAINING.config.cores
SIZE = TRAINING.config.channel_bytes
#: Bytes of the memory, and where in it that of the chip begins.
BYTES, BASE = 1 << 18, 1 << 16


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def trains(dut):
    """Memory begins with random bytes; what is not the chip's stays as it is."""
    logging.getLogger("cocotb").setLevel(logging.WARNING)  # not a line for every access
    before = random.randbytes(BYTES)
    memory = AxiRam(AxiBus.from_prefix(dut, "m_axi_00"), dut.aclk, dut.aresetn,
                    reset_active_level=False, size=BYTES)
    memory.write(0, before)
    others = [AxiRam(AxiBus.from_prefix(dut, f"m_axi_{number:02}"), dut.aclk, dut.aresetn,
                     reset_active_level=False, mem=memory.mem)
              for number in range(1, CHANNELS)]
    assert len(others) == CHANNELS - 1
    dut.memory_base.value = BASE
    transport = CocotbTransport(dut)
    await transport.reset()

    def chip(model):
        return AloneChip(transport, compile_job(model, TRAINING.config), model)

    words, _, _ = await bridge(compare_training)(TRAINING, chip)
    assert words.equal == words.words > 0, str(words)
    after, end = bytes(memory.read(0, BYTES)), BASE + CHANNELS * SIZE
    assert (after[:BASE], after[end:]) == (before[:BASE], before[end:])
    for channel in range(CHANNELS):
        place = slice(BASE + channel * SIZE, BASE + (channel + 1) * SIZE)
        assert after[place] != before[place], channel


def test_training_in_external_memory():
    require("icarus")
    run("icarus", to_verilog(TRAINING.config, OPTIONS), top=OPTIONS.top, module=__name__)
