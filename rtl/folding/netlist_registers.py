# SPDX-License-Identifier: BSD-2-Clause
"""The registers of a flat netlist, as what they hold next."""

from dataclasses import dataclass, replace
from typing import Any

from hypercast.rtl.folding.netlist import CONSTANTS, Bit, Netlist

__all__ = ["KINDS", "NetlistRegister", "registers", "remove_controls"]

#: Yosys' cells that are registers here: with an enable, with a synchronous reset.
KINDS = {"$dff": (False, False), "$dffe": (True, False), "$sdff": (False, True),
         "$sdffe": (True, True)}


@dataclass(frozen=True, kw_only=True)
class NetlistRegister:
    """A register: ``reset ? reset_value : enable ? data : output``.

    Parameters
    ----------
    name : str
        Name of the register's cell.
    data, output : list
        Bits, the lowest first.
    enable, reset : int or str
        Nets, or constants if it has none.
    reset_value : str
        Bits, the lowest first.
    held : list
        Nets that are ``output`` when the others are known.
    late : bool
        Whether they are known in the second stage only.
    """

    name: str
    data: list[Bit]
    output: list[Bit]
    enable: Bit
    reset: Bit
    reset_value: str
    held: list[Bit]
    late: bool = False

    @property
    def inputs(self) -> list[Bit]:
        """Nets that decide what it holds next."""
        return [*self.data, self.enable, self.reset]


def registers(netlist: Netlist) -> dict[str, NetlistRegister]:
    """All registers of a netlist, by name; inverters are added where controls are active low."""
    inverted: dict[Bit, Bit] = {}

    def control(cell: dict[str, Any], port: str, parameter: str) -> Bit:
        bit: Bit
        [bit] = cell["connections"][port]
        if cell["parameters"][parameter][-1] == "1":
            return bit
        if bit not in inverted:
            inverted[bit] = netlist.gate("$not", A=[bit])
        return inverted[bit]

    found = {}
    for name, cell in list(netlist.cells.items()):
        if cell["type"] not in KINDS:
            continue
        enabled, resettable = KINDS[cell["type"]]
        found[name] = NetlistRegister(
            name=name, data=cell["connections"]["D"], output=cell["connections"]["Q"],
            held=cell["connections"]["Q"],
            enable=control(cell, "EN", "EN_POLARITY") if enabled else "1",
            reset=control(cell, "SRST", "SRST_POLARITY") if resettable else "0",
            reset_value=cell["parameters"]["SRST_VALUE"][::-1] if resettable else "")
    return found


def remove_controls(netlist: Netlist, register: NetlistRegister) -> NetlistRegister:
    """A register that does the same without enable and reset; multiplexers are added."""
    data = _multiplexer(netlist, register.enable, register.data, register.held)
    data = _multiplexer(netlist, register.reset, list(register.reset_value), data)
    return replace(register, data=data, enable="1", reset="0", reset_value="")


def _multiplexer(netlist: Netlist, select: Bit, when_set: list[Bit],
                 otherwise: list[Bit]) -> list[Bit]:
    if select in CONSTANTS:
        return when_set if select == "1" else otherwise
    output = netlist.nets(len(when_set))
    netlist.add(f"$mux${output[0]}", "$mux", {
        "A": otherwise, "B": when_set, "S": [select], "Y": output}, WIDTH=len(output))
    return output
