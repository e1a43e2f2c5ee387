"""A training on the chip's Verilog, through its AXI4-Lite port; every word is the reference's."""

import os

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.task import bridge, resume
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.comparison import compare
from hypercast.host.runtime.devices import ChipDevice, ReferenceDevice
from hypercast.host.runtime.transport import Transport, TransportError
from hypercast.host.training.prepare import prepare
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import PRESETS

CONFIG = PRESETS[os.environ["PRESET"]]
STEPS, HIDDEN = int(os.environ["STEPS"]), 4
#: The watchdogs: cycles that a program may take, and simulated time of everything.
CYCLES, MILLISECONDS = 50_000, 20


class Port(Transport):
    """The chip's AXI4-Lite port; its methods are called in a thread, and wait for the simulation.

    Whatever else reaches the port in a system has the same two functions, see ``examples/c``.
    """

    def __init__(self, dut):
        self._dut = dut
        self._axi = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), dut.aclk, dut.aresetn,
                                  reset_active_level=False)

    def read(self, address):
        response = resume(self._axi.read)(address, 4)
        self._check(response, "read", address)
        return int.from_bytes(response.data, "little")

    def write(self, address, value):
        response = resume(self._axi.write)(address, value.to_bytes(4, "little"))
        self._check(response, "write", address)

    def wait(self, cycles):
        async def pass_time():
            await ClockCycles(self._dut.aclk, cycles)
        resume(pass_time)()

    @staticmethod
    def _check(response, what, address):
        if response.resp != AxiResp.OKAY:
            raise TransportError(f"AXI {what} at {address:#x} was refused with {response.resp!r}")


async def no_unknowns(dut):
    """Fail if an output is X or Z at a clock edge."""
    outputs = [getattr(dut, f"s_axi_{name}") for name in (
        "awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp")]
    while True:
        await RisingEdge(dut.aclk)
        await ReadOnly()
        for output in outputs:
            assert output.value.is_resolvable, f"{output._name} is {output.value}"


def model():
    """A two-layer network on a ring of twelve vertices with a chord, in its initial state."""
    numbers = np.random.default_rng(1)
    edges = [*((vertex, (vertex + 1) % 12) for vertex in range(12)), (0, 6)]
    graph = Graph.from_edges(edges, numbers.normal(size=(12, 3)), np.arange(12) // 6,
                             train=np.arange(0, 12, 2), validation=[1, 7], test=[3, 9])
    network = Network.of_widths([3, HIDDEN, 2], dropout=0.5)
    return prepare(graph, network, Recipe(epochs=STEPS, element_width=CONFIG.element_width))


def train(port):
    """Load the chip, train, and compare all tensors, weights and exponents after every step."""
    reference = ReferenceDevice(model())
    chip = ChipDevice(port, compile_job(model(), CONFIG), model(), limit=CYCLES)
    for step in range(STEPS):
        expected, found = reference.train_step(), chip.train_step()
        assert (found.loss[1:] == expected.loss[1:]).all(), f"loss of step {step}"
        words = compare(reference.snapshot(), chip.snapshot(), CONFIG.lanes)
        cocotb.log.info("step %d: %d cycles so far, %s", step, chip.train_cycles, words)
        assert words.words and words.equal == words.words, str(words)


@cocotb.test(timeout_time=MILLISECONDS, timeout_unit="ms")
async def trains(dut):
    """The whole training."""
    Clock(dut.aclk, 10, unit="ns").start()
    port = Port(dut)
    dut.aresetn.value = 0
    await ClockCycles(dut.aclk, 5)
    dut.aresetn.value = 1
    await ClockCycles(dut.aclk, 2)
    cocotb.start_soon(no_unknowns(dut))
    await bridge(train)(port)
