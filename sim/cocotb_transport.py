# SPDX-License-Identifier: BSD-2-Clause
"""A chip under cocotb as a transport: blocking calls from a bridged thread."""

import logging
from collections.abc import Iterable
from typing import Any

from cocotb.clock import Clock
from cocotb.task import resume
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from hypercast.host.transport.transport import Transport, TransportError

__all__ = ["CocotbTransport", "quiet"]


def quiet(agent: Any) -> None:
    """Let an agent of cocotbext-axi log no line for every access: a training makes thousands."""
    for half in (agent.write_if, agent.read_if):
        half.log.setLevel(logging.WARNING)


class CocotbTransport(Transport):
    """The exported chip ``dut``, by the names of its ports.

    ``await transport.reset()`` comes first. Methods of ``Transport`` wait for the simulation, so
    they are for code that is run by ``cocotb.task.bridge``: a ``Trainer``, say, with this as its
    ``transport``.

    Parameters
    ----------
    dut : cocotb handle
        The top module that ``hypercast verilog`` wrote.
    """

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self._axi: Any = None

    async def reset(self) -> None:
        """Start the clock, reset the chip, and attach to its AXI4-Lite port."""
        dut = self._dut
        Clock(dut.aclk, 10, unit="ns").start()
        self._axi = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), dut.aclk, dut.aresetn,
                                  reset_active_level=False)
        quiet(self._axi)
        dut.aresetn.value = 0
        await ClockCycles(dut.aclk, 5)
        dut.aresetn.value = 1
        await ClockCycles(dut.aclk, 2)

    def read(self, address: int) -> int:
        return self.read_stream(address, 1)[0]

    def write(self, address: int, value: int) -> None:
        self.write_stream(address, [value])

    # Going from the caller's thread to the simulator's takes longer than an access.

    def read_stream(self, address: int, count: int) -> list[int]:
        found: list[int] = resume(self.read_words)(address, count)
        return found

    def write_stream(self, address: int, values: Iterable[int]) -> None:
        resume(self.write_words)(address, values)

    async def read_words(self, address: int, count: int) -> list[int]:
        """``read_stream``, for code that awaits it."""
        words = []
        for _ in range(count):
            response = await self._axi.read(address, 4)
            self._check(response, "read", address)
            words.append(int.from_bytes(response.data, "little"))
        return words

    async def write_words(self, address: int, values: Iterable[int]) -> None:
        """``write_stream``, for code that awaits it."""
        for value in values:
            response = await self._axi.write(address, value.to_bytes(4, "little"))
            self._check(response, "write", address)

    @staticmethod
    def _check(response: Any, what: str, address: int) -> None:
        if response.resp != AxiResp.OKAY:
            raise TransportError(f"AXI {what} at {address:#x} was refused with {response.resp!r}")

    def wait(self, cycles: int) -> None:
        async def pass_time() -> None:
            await ClockCycles(self._dut.aclk, cycles)
        resume(pass_time)()
