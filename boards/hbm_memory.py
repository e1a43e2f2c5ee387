# SPDX-License-Identifier: BSD-2-Clause
"""The HBM controller of the FPGA: every memory channel has a pseudo-channel of its own."""

from collections.abc import Iterator

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.memory.axi4 import Axi4, offset_width

__all__ = ["HBM_MODULE", "HbmMemory"]

#: Name of the controller's module, an "AXI High Bandwidth Memory Controller" (AMD PG276).
HBM_MODULE = "hypercast_hbm"

#: Bits of an offset in a pseudo-channel of 256 MiB, of a pseudo-channel's number, and of an ID.
_OFFSET_WIDTH = 28
_NUMBER_WIDTH = 5
_ID_WIDTH = 6
#: Pseudo-channels of a stack.
_STACK_CHANNELS = 16
#: Bits of a burst's length: as in AXI3.
_LENGTH_WIDTH = 4


class HbmMemory(wiring.Component):
    """The controller, with all its ports at the chip's clock and without its switch.

    Parameters
    ----------
    config : Config
        Configuration of the chip: eight cores for each stack that is used.

    Members
    -------
    reference : In(1)
        Clock of the stacks and of their configuration, 100 MHz.
    reset : In(1)
        Reset of the ports, before the first access only.
    channels : In(Axi4), one per channel
        Byte addresses are offsets in the channel; channel ``n`` has pseudo-channel ``n``.
    initialised : Out(1)
        High when accesses may begin; asynchronous.
    overheated : Out(1)
        High when a stack is too hot; asynchronous.
    """

    def __init__(self, config: Config) -> None:
        self._axi = Axi4(offset_width(config), config.word_width)
        self._channels = 2 * config.cores
        super().__init__({
            "reference": In(1), "reset": In(1),
            "channels": In(self._axi).array(self._channels),
            "initialised": Out(1), "overheated": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ports: dict[str, Value] = {}
        stacks = self._channels // _STACK_CHANNELS
        complete, hot = Signal(stacks), Signal(stacks)
        for stack in range(stacks):
            ports |= {
                f"i_HBM_REF_CLK_{stack}": self.reference,
                f"i_APB_{stack}_PCLK": self.reference,
                f"i_APB_{stack}_PRESET_N": Const(1),
                f"o_apb_complete_{stack}": complete[stack],
                f"o_DRAM_{stack}_STAT_CATTRIP": hot[stack],
            }
        for number in range(self._channels):
            ports |= {f"{direction}_AXI_{number:02}_{name}": value
                      for direction, name, value in self._channel(number)}
        m.submodules.controller = Instance(HBM_MODULE, **ports)
        m.d.comb += [self.initialised.eq(complete.all()), self.overheated.eq(hot.any())]
        return m

    def _channel(self, number: int) -> Iterator[tuple[str, str, Value]]:
        """Direction, name and value of each signal of a port."""
        yield "i", "ACLK", ClockSignal()
        yield "i", "ARESET_N", ~self.reset
        yield "i", "WDATA_PARITY", Const(0, 32)
        axi = self.channels[number]
        for half in (axi.read, axi.write):
            for name, member in half.signature.members.items():
                value = getattr(half, name)
                if member.flow == In:  # to the controller, as seen from here
                    yield "i", name.upper(), _fit(name, value, number)
                elif name not in ("rid", "bid"):  # there is one ID only
                    yield "o", name.upper(), value


def _fit(name: str, value: Value, number: int) -> Value:
    """What the controller gets for a manager's signal."""
    match name[2:]:
        case "id":
            return Const(0, _ID_WIDTH)
        case "len":
            return value[:_LENGTH_WIDTH]
        case "addr":
            return Cat(value, Const(0, _OFFSET_WIDTH - len(value)), Const(number, _NUMBER_WIDTH))
    return value
