# SPDX-License-Identifier: BSD-2-Clause
"""A training of karate on the chip's Verilog, through AXI; every word is the reference's."""

import os

import cocotb
from cocotb.task import bridge
from cocotb.triggers import ReadOnly, RisingEdge

from hypercast import Device, Graph, Model, Trainer
from hypercast.cocotb import Chip

PRESET, EPOCHS = os.environ["PRESET"], int(os.environ["EPOCHS"])
#: The watchdog: simulated time of everything.
MILLISECONDS = 100


async def no_unknowns(dut):
    """Fail if an output is X or Z at a clock edge."""
    outputs = [getattr(dut, f"s_axi_{name}") for name in (
        "awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp")]
    while True:
        await RisingEdge(dut.aclk)
        await ReadOnly()
        for output in outputs:
            assert output.value.is_resolvable, f"{output._name} is {output.value}"


def train(chip):
    """Train, and compare all tensors, weights and exponents after every step.

    This runs in a thread. The chip's methods wait for the simulation there.
    """
    with Trainer(Graph.load("karate"), Model(hidden=2), Device(preset=PRESET), epochs=EPOCHS,
                 check=True, transport=chip) as trainer:
        trainer.fit()
        cocotb.log.info("%s", trainer.words)
        assert trainer.words.words and trainer.words.equal == trainer.words.words


@cocotb.test(timeout_time=MILLISECONDS, timeout_unit="ms")
async def trains(dut):
    chip = Chip(dut)
    memory = chip.attach_memory() if hasattr(dut, "memory_base") else None  # with --memory axi
    await chip.reset()
    cocotb.start_soon(no_unknowns(dut))
    await bridge(train)(chip)
    if memory is not None:
        assert any(memory.read(0, 4096))
