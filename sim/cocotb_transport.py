"""A chip under cocotb as a transport: blocking calls from a bridged thread."""

from collections.abc import Iterable
from typing import Any

from cocotb.clock import Clock
from cocotb.task import resume
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from hypercast.host.runtime.transport import Transport, TransportError

__all__ = ["CocotbTransport"]


class CocotbTransport(Transport):
    """The exported chip ``dut``, by the names of its ports.

    Use ``await transport.reset()`` first; then hand it to code run by ``cocotb.task.bridge``.
    """

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self._axi: Any = None

    async def reset(self) -> None:
        """Start the clock, reset the chip, attach to its AXI4-Lite port."""
        dut = self._dut
        Clock(dut.aclk, 10, unit="ns").start()
        self._axi = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), dut.aclk, dut.aresetn,
                                   reset_active_level=False)
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
        async def read() -> list[Any]:
            return [await self._axi.read(address, 4) for _ in range(count)]
        responses = resume(read)()
        for response in responses:
            self._check(response, "read", address)
        return [int.from_bytes(response.data, "little") for response in responses]

    def write_stream(self, address: int, values: Iterable[int]) -> None:
        async def write() -> list[Any]:
            return [await self._axi.write(address, value.to_bytes(4, "little"))
                    for value in values]
        for response in resume(write)():
            self._check(response, "write", address)

    @staticmethod
    def _check(response: Any, what: str, address: int) -> None:
        if response.resp != AxiResp.OKAY:
            raise TransportError(f"AXI {what} at {address:#x} was refused with {response.resp!r}")

    def wait(self, cycles: int) -> None:
        async def pass_time() -> None:
            await ClockCycles(self._dut.aclk, cycles)
        resume(pass_time)()
