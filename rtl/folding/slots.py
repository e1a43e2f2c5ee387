# SPDX-License-Identifier: BSD-2-Clause
"""Nets of slots to come, and RAM with an entry for each instance."""

from collections.abc import Iterable
from typing import Any

from hypercast.rtl.folding.dependencies import FoldingError
from hypercast.rtl.folding.netlist import CONSTANTS, Bit, Netlist

__all__ = ["Slots"]


class Slots:
    """Adds to a netlist what depends on whose slot it is.

    The module gets an input ``restart``: while it is high, the slot is the first. Several counters
    count slots, and FPGAs may start them in different cycles.

    Parameters
    ----------
    netlist : Netlist
        The netlist; its clock is input ``clk``.
    count : int
        Number of slots, a power of two.
    index : str
        Input whose nets are to hold the number of the slot.
    """

    def __init__(self, netlist: Netlist, count: int, index: str) -> None:
        self._netlist = netlist
        self._count = count
        self._width = (count - 1).bit_length()
        self._clock = netlist.ports["clk"]["bits"][0]
        self._initial = netlist.take_initial_values()
        self._counters = 0
        self._numbers: dict[int, list[Bit]] = {}  # slots ahead to nets
        #: (net, slots ahead) to the net that is ahead of it
        self._copies: dict[tuple[Bit, int], Bit] = {}
        self._restart = netlist.nets(1)
        netlist.add_port("restart", "input", self._restart)
        self._count_slots(0, netlist.ports[index]["bits"])

    def _count_slots(self, first: int, bits: list[Bit]) -> list[Bit]:
        name = f"$slot{self._counters}"
        self._counters += 1
        following = self._netlist.nets(self._width)
        self._netlist.add(f"{name}$add", "$add", {"A": bits, "B": ["1"], "Y": following},
                          A_SIGNED=0, A_WIDTH=self._width, B_SIGNED=0, B_WIDTH=1,
                          Y_WIDTH=self._width)
        value = format(first, f"0{self._width}b")
        self._netlist.add(name, "$sdff", {
            "CLK": [self._clock], "SRST": self._restart, "D": following, "Q": bits},
            WIDTH=self._width, CLK_POLARITY="1", SRST_POLARITY="1", SRST_VALUE=value)
        self._netlist.set_initial_values(bits, value[::-1])
        self._numbers.setdefault(first, bits)
        return bits

    def number(self, ahead: int) -> list[Bit]:
        """The number of the slot that comes ``ahead`` slots after this one."""
        return self._numbers.get(ahead % self._count) or self.counter(ahead)

    def counter(self, ahead: int) -> list[Bit]:
        """``number`` from a counter of its own: for RAM, as wires all over the chip are slow."""
        return self._count_slots(ahead % self._count, self._netlist.nets(self._width))

    def initial(self, bits: Iterable[Bit]) -> str:
        """Initial values of nets, as a string, the lowest bit first."""
        return "".join(self._initial.get(bit, "x") for bit in bits)

    def early(self, bit: Bit, ahead: int) -> Bit:
        """The net that is ``ahead`` slots ahead of another.

        Logic is copied. The copies of registers' and memories' outputs are to be driven with
        ``delay``.
        """
        if bit in CONSTANTS or ahead == 0:
            return bit
        if (bit, ahead) not in self._copies:
            netlist = self._netlist
            if bit in netlist.inputs:
                return self.number(ahead)[netlist.inputs[bit][1]]
            name, port, _ = netlist.drivers[bit]
            cell = netlist.cells[name]
            outputs = cell["connections"][port]
            nets = netlist.nets(len(outputs))
            self._copies.update(((output, ahead), net)
                                for output, net in zip(outputs, nets, strict=True))
            if port not in ("Q", "RD_DATA"):
                netlist.cells[f"{name}$ahead{ahead}"] = {**cell, "connections": {
                    other: nets if other == port else
                    [self.early(operand, ahead) for operand in operands]
                    for other, operands in cell["connections"].items()}}
        return self._copies[bit, ahead]

    def delay(self, bits: list[Bit], ahead: int) -> list[Bit]:
        """The nets that are ``ahead`` slots ahead; from them, flip-flops drive nets in between."""
        for slots in range(ahead):
            self._netlist.flip_flops(
                f"$delay{slots}${bits[0]}", [self.early(bit, slots + 1) for bit in bits],
                [self.early(bit, slots) for bit in bits], initial=self.initial(bits))
        return [self.early(bit, ahead) for bit in bits]

    def ram(self, name: str, data: list[Bit], output: list[Bit], *, ahead: int, delay: int = 0,
            enable: Bit = "1", initial: str = "", reset: Bit = "0", reset_value: str = "") -> None:
        """Add distributed RAM with an entry for each instance.

        Parameters
        ----------
        name : str
            Name of the RAM.
        data : list
            Written, if ``enable``, for the instance that had its slot ``delay`` slots ago.
        output : list
            The entry of the instance that will have its slot ``ahead`` slots later, from
            flip-flops with ``reset``.
        initial, reset_value : str
            What entries and flip-flops hold at first, and what the reset makes the flip-flops
            hold; the lowest bit first.

        Raises
        ------
        FoldingError
            If there are too few instances to write an entry before it is read.
        """
        if ahead + 1 + delay >= self._count:
            raise FoldingError(f"{self._count} instances are too few: {name} is needed {ahead} "
                               f"slots ahead, and written {delay} late")
        width = len(data)
        initial = initial[::-1] or "x" * width
        self._netlist.add(
            name, "$mem_v2",
            {"RD_ADDR": self.counter(ahead + 1), "RD_DATA": output,
             "RD_CLK": [self._clock], "RD_EN": ["1"], "RD_ARST": ["0"], "RD_SRST": [reset],
             "WR_ADDR": self.counter(-delay), "WR_DATA": data, "WR_EN": [enable] * width,
             "WR_CLK": [self._clock]},
            MEMID=f"\\{name}", SIZE=self._count, OFFSET=0, ABITS=self._width, WIDTH=width,
            INIT=initial * self._count, RD_PORTS=1, RD_CLK_ENABLE="1", RD_CLK_POLARITY="1",
            # Reading and writing are never of the same instance.
            RD_TRANSPARENCY_MASK="0", RD_COLLISION_X_MASK="1", RD_WIDE_CONTINUATION="0",
            RD_CE_OVER_SRST="0", RD_ARST_VALUE="x" * width, RD_INIT_VALUE=initial,
            RD_SRST_VALUE=reset_value[::-1] or "x" * width, WR_PORTS=1, WR_CLK_ENABLE="1",
            WR_CLK_POLARITY="1", WR_PRIORITY_MASK="0", WR_WIDE_CONTINUATION="0")
        self._netlist.cells[name]["attributes"]["ram_style"] = "distributed"

    def state(self, name: str, data: list[Bit], output: list[Bit], *, ahead: int,
              **options: Any) -> None:
        """Like ``ram``, with flip-flops that drive ``output`` in the instance's slot itself."""
        self.ram(name, data, self.delay(output, ahead), ahead=ahead, initial=self.initial(output),
                 **options)
