"""A chip under cocotb: registers by name, and as a transport for code in a bridged thread."""

import itertools
import logging
from collections.abc import Iterable
from typing import Any

from cocotb.clock import Clock
from cocotb.task import resume
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiResp

from hypercast.host.runtime.transport import Transport, TransportError
from hypercast.rtl.registers import register

__all__ = ["CocotbTransport"]


def _quiet(agent: Any) -> None:
    """No line in the log for every access: a training makes thousands."""
    for half in (agent.write_if, agent.read_if):
        half.log.setLevel(logging.WARNING)


class CocotbTransport(Transport):
    """The exported chip ``dut``, by the names of its ports.

    ``await chip.reset()`` comes first. Then tests ``await`` ``get`` and ``put``. The methods of a
    ``Transport`` wait for the simulation, so they are for code that is run by
    ``cocotb.task.bridge``: a ``Trainer``, say, with this as its ``transport``.

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
        _quiet(self._axi)
        dut.aresetn.value = 0
        await ClockCycles(dut.aclk, 5)
        dut.aresetn.value = 1
        await ClockCycles(dut.aclk, 2)

    def attach_memory(self, base: int = 0) -> Any:
        """Put one memory behind all AXI4 managers of a chip with external memory, before ``reset``.

        Parameters
        ----------
        base : int
            Byte address at which the chip's begins; it is set at the port ``memory_base``.

        Returns
        -------
        cocotbext.axi.AxiRam
            The memory; ``read(address, count)`` and ``write(address, data)`` take byte addresses.

        Raises
        ------
        ValueError
            If the chip has its memory inside.
        """
        dut = self._dut
        if not hasattr(dut, "memory_base"):
            raise ValueError("this chip has its memory inside; export one with external memory")
        dut.memory_base.value = base
        memory: Any = None
        for number in itertools.count():
            if not hasattr(dut, f"m_axi_{number:02}_awaddr"):
                return memory
            ram = AxiRam(AxiBus.from_prefix(dut, f"m_axi_{number:02}"), dut.aclk, dut.aresetn,
                         reset_active_level=False,
                         **({"mem": memory.mem} if memory is not None else {}))
            _quiet(ram)
            memory = ram if memory is None else memory

    async def get(self, name: str) -> int:
        """The register called ``name``; raises as ``read``."""
        address = register(name)
        response = await self._axi.read(address, 4)
        self._check(response, "read", address)
        return int.from_bytes(response.data, "little")

    async def put(self, name: str, value: int) -> None:
        """Write the register called ``name``; raises as ``write``."""
        address = register(name)
        self._check(await self._axi.write(address, value.to_bytes(4, "little")), "write", address)

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
