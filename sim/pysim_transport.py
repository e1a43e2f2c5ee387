# SPDX-License-Identifier: BSD-2-Clause
"""The chip in Amaranth's simulator as a transport of the driver: slow, but nothing is compiled."""

from collections.abc import Awaitable, Callable
from typing import Any

from amaranth.sim import Simulator

from hypercast.host.transport.transport import Transport, TransportError
from hypercast.rtl.chip import Chip
from hypercast.rtl.config import Config
from hypercast.rtl.control.axi_lite import Response

__all__ = ["PysimTransport"]

#: Cycles an AXI access may take; the chip itself answers within a few thousand.
_ACCESS_LIMIT = 20_000
#: Of the simulated clock, in seconds; any would do.
_PERIOD = 1e-6


class PysimTransport(Transport):
    """A chip simulated by ``amaranth.sim``.

    Parameters
    ----------
    config : Config
        Configuration of the chip; elaborating it takes about two seconds a core.

    Attributes
    ----------
    simulator : Simulator
        Simulates it.
    """

    def __init__(self, config: Config) -> None:
        chip = Chip(config)
        self._axi = chip.axi
        self._access: Callable[[Any], Awaitable[tuple[Any, int]]] | None = None
        self._response: tuple[Any, int] = None, 0
        self.simulator = Simulator(chip)
        self.simulator.add_clock(_PERIOD)
        self.simulator.add_testbench(self._host, background=True)

    async def _host(self, ctx: Any) -> None:
        """Performs the access that ``_perform`` left, beginning right after a clock edge."""
        while True:
            await ctx.tick()
            if self._access is not None:
                self._response = await self._access(ctx)
                self._access = None

    def _perform(self, what: str, address: int,
                 access: Callable[[Any], Awaitable[tuple[Any, int]]]) -> Any:
        self._access = access
        for _ in range(_ACCESS_LIMIT):
            self.wait(1)
            if self._access is None:
                break
        else:
            raise TransportError(f"AXI {what} at {address:#x} did not end")
        value, code = self._response
        if Response(code) != Response.OKAY:
            raise TransportError(f"AXI {what} at {address:#x} was refused with response {code}")
        return value

    def read(self, address: int) -> int:
        async def access(ctx: Any) -> tuple[int, int]:
            axi = self._axi
            ctx.set(axi.araddr, address)
            ctx.set(axi.arvalid, 1)
            ctx.set(axi.rready, 1)
            while True:
                _, _, taken, answered, value, code = await ctx.tick().sample(
                    axi.arready, axi.rvalid, axi.rdata, axi.rresp)
                if taken:
                    ctx.set(axi.arvalid, 0)
                if answered:
                    ctx.set(axi.rready, 0)
                    return value, code

        value: int = self._perform("read", address, access)
        return value

    def write(self, address: int, value: int) -> None:
        async def access(ctx: Any) -> tuple[None, int]:
            axi = self._axi
            ctx.set(axi.awaddr, address)
            ctx.set(axi.awvalid, 1)
            ctx.set(axi.wdata, value)
            ctx.set(axi.wstrb, 0xF)
            ctx.set(axi.wvalid, 1)
            ctx.set(axi.bready, 1)
            while True:
                _, _, address_taken, data_taken, answered, code = await ctx.tick().sample(
                    axi.awready, axi.wready, axi.bvalid, axi.bresp)
                if address_taken:
                    ctx.set(axi.awvalid, 0)
                if data_taken:
                    ctx.set(axi.wvalid, 0)
                if answered:
                    ctx.set(axi.bready, 0)
                    return None, code

        self._perform("write", address, access)

    def wait(self, cycles: int) -> None:
        for _ in range(2 * cycles):  # the clock's two edges
            self.simulator.advance()
