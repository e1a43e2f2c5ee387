# SPDX-License-Identifier: BSD-2-Clause
"""A chip for tests with cocotb: registers by name, and memory for its managers."""

import itertools
import sys
from typing import Any

from cocotbext.axi import AxiBus, AxiRam

from hypercast.errors import InputError
from hypercast.rtl.registers import register
from hypercast.sim.cocotb_transport import CocotbTransport, quiet

__all__ = ["Chip"]

#: Size of a memory, the most that Python counts: only written bytes take room.
_BYTES = sys.maxsize


class Chip(CocotbTransport):
    """The top module ``dut`` that ``hypercast verilog`` wrote.

    ``await chip.reset()`` comes first. Then tests ``await`` ``get`` and ``put``. It is a
    ``Transport``, too. The transport's methods wait for the simulation, so they are for code that
    is run by ``cocotb.task.bridge``: a ``Trainer``, say, with this as its ``transport``.

    Parameters
    ----------
    dut : cocotb handle
        The module.
    """

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
        InputError
            If the chip has its memory inside.
        """
        dut = self._dut
        if not hasattr(dut, "memory_base"):
            raise InputError("this chip has its memory inside; export one with external memory")
        dut.memory_base.value = base
        memory: Any = None
        for number in itertools.count():
            if not hasattr(dut, f"m_axi_{number:02}_awaddr"):
                return memory
            ram = AxiRam(AxiBus.from_prefix(dut, f"m_axi_{number:02}"), dut.aclk, dut.aresetn,
                         reset_active_level=False,
                         size=_BYTES, mem=None if memory is None else memory.mem)
            quiet(ram)
            memory = ram if memory is None else memory

    async def get(self, name: str) -> int:
        """The register called ``name``; raises as ``read``."""
        address = register(name)
        return (await self.read_words(address, 1))[0]

    async def put(self, name: str, value: int) -> None:
        """Write the register called ``name``; raises as ``write``."""
        address = register(name)
        await self.write_words(address, [value])
