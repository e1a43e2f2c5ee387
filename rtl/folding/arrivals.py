# SPDX-License-Identifier: BSD-2-Clause
"""How many levels of logic lie before each net of a netlist."""

import math
from typing import Any

from hypercast.rtl.folding.netlist import CONSTANTS, Bit, Netlist, number

__all__ = ["Arrivals", "logic"]

#: Levels that a block RAM's access, and that a multiplier takes.
_ACCESS, _MULTIPLIER = 4, 5
#: Bits of a carry chain that take as long as a level.
_CARRY = 20
_ARITHMETIC = {"$add", "$sub", "$neg", "$lt", "$le", "$gt", "$ge"}
_SHIFTS = {"$shl", "$shr", "$sshl", "$sshr", "$shift", "$shiftx"}


def _levels(cell: dict[str, Any]) -> float:
    """Levels of four-input LUTs that a cell takes, roughly; neighbours share some."""
    parameters = cell["parameters"]
    width = max(number(parameters.get(f"{port}_WIDTH", "1")) for port in "AB")
    kind = cell["type"]
    if kind == "$mul":
        return _MULTIPLIER
    if kind in _ARITHMETIC:
        return 1 + width / _CARRY
    if kind in _SHIFTS:
        return 0.7 * number(parameters["B_WIDTH"])
    if kind == "$pmux":
        return 1 + 0.5 * math.log2(number(parameters["S_WIDTH"]))
    if kind.startswith(("$reduce", "$logic", "$eq", "$ne")):
        return max(0.5, math.log(width, 4))
    return 0.6


def logic(netlist: Netlist) -> list[dict[str, Any]]:
    """The combinational cells of a netlist."""
    return [cell for cell in netlist.cells.values()
            if cell["connections"].get("Y") and cell["type"] != "$scopeinfo"]


class Arrivals:
    """Levels from registers, inputs and memories to the nets of a netlist, as it is now.

    What is known of a net is kept: the netlist may be changed afterwards.
    """

    def __init__(self, netlist: Netlist) -> None:
        self._netlist = netlist
        self._arrivals: dict[Bit, float] = {}

    def of(self, net: Bit) -> float:
        """Levels from registers to a net."""
        stack = [net]
        while stack:
            bit = stack[-1]
            name, port, _ = self._netlist.drivers.get(bit, ("", "", 0))
            if bit in self._arrivals or bit in CONSTANTS:
                stack.pop()
            elif port != "Y":
                self._arrivals[bit] = self._begin(name, port, bit)
            else:
                cell = self._netlist.cells[name]
                operands = [operand for other, bits in cell["connections"].items()
                            if cell["port_directions"][other] == "input" for operand in bits
                            if operand not in CONSTANTS]
                missing = [operand for operand in operands if operand not in self._arrivals]
                if missing:
                    stack += missing
                    continue
                arrival = _levels(cell) + max(
                    (self._arrivals[operand] for operand in operands), default=0)
                self._arrivals.update(dict.fromkeys(cell["connections"]["Y"], arrival))
        return self._arrivals.get(net, 0)

    def _begin(self, name: str, port: str, bit: Bit) -> float:
        if port != "RD_DATA":
            return 0
        cell = self._netlist.cells[name]
        place = cell["connections"]["RD_DATA"].index(bit)
        read = place // number(cell["parameters"]["WIDTH"])
        return 0 if cell["parameters"]["RD_CLK_ENABLE"][-1 - read] == "1" else _ACCESS
