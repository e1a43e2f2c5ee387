# SPDX-License-Identifier: BSD-2-Clause
"""InstructionFetch under cocotb: loops are unrolled as ``rtl.loop`` says, under every pause."""

from itertools import cycle

import cocotb
import numpy as np
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.instruction_fetch import InstructionFetch
from hypercast.rtl.loop import unroll
from tests.cocotb.benches import PAUSES, simulate, start
from tests.rtl.control.loop_programs import random_program

CONFIG = PRESETS["tiny"].replace(program_rows=64)


async def remember(dut, rows):
    """The program memory: what it is asked for comes one cycle later."""
    while True:
        await RisingEdge(dut.clk)
        row = dut.memory_row.value
        dut.memory_instruction.value = rows[int(row)] if row.is_resolvable else 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(seed=range(4), pause=list(PAUSES))
async def unrolls(dut, seed, pause):
    program = random_program(np.random.default_rng(seed))
    cocotb.start_soon(remember(dut, program + [0] * (CONFIG.program_rows - len(program))))
    dut.start.value = dut.entry.value = dut.take.value = dut.memory_fault.value = 0
    await start(dut)
    dut.start.value = 1
    await RisingEdge(dut.clk)
    dut.start.value = 0
    waits = cycle(PAUSES[pause] or (0,))
    for row, word, first, _ in unroll(program):
        while True:
            await FallingEdge(dut.clk)
            if int(dut.ready.value) and not next(waits):
                break
        assert [int(member.value) for member in (
            dut.row, dut.instruction, dut.first, dut.fault)] == [row, word, first, 0]
        dut.take.value = 1
        await RisingEdge(dut.clk)
        dut.take.value = 0


@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
def test_instruction_fetch(simulator):
    simulate(simulator, InstructionFetch(CONFIG), module=__name__)
