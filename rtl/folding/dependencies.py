# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a netlist that must be known early, and registers that all instances share."""

from collections import defaultdict
from collections.abc import Container, Iterable
from typing import Any, TypeAlias

from hypercast.errors import InputError
from hypercast.rtl.folding.netlist import Bit, Netlist, number

__all__ = ["FoldingError", "NetlistReadPort", "Source", "lookahead", "read_ports",
           "shared_registers"]

#: An input or register by its name, or a read port by ``NetlistReadPort.key``.
Source: TypeAlias = str | tuple[str, int]


class FoldingError(InputError):
    """A module that cannot be folded; names the place."""


class NetlistReadPort:
    """A read port of a ``$mem_v2`` cell.

    Attributes
    ----------
    key : tuple
        The cell's name and the port's number.
    synchronous : bool
        Whether data come a cycle after the address.
    address, data : list
        Nets.
    enable : int or str
        Net.
    """

    def __init__(self, name: str, cell: dict[str, Any], port: int) -> None:
        parameters, connections = cell["parameters"], cell["connections"]
        abits, width = number(parameters["ABITS"]), number(parameters["WIDTH"])
        self.key = name, port
        self.synchronous = parameters["RD_CLK_ENABLE"][-1 - port] == "1"
        self.address = connections["RD_ADDR"][port * abits:][:abits]
        self.data = connections["RD_DATA"][port * width:][:width]
        self.enable = connections["RD_EN"][port]


def read_ports(name: str, cell: dict[str, Any]) -> list[NetlistReadPort]:
    """All read ports of a memory."""
    ports = number(cell["parameters"]["RD_PORTS"])
    return [NetlistReadPort(name, cell, port) for port in range(ports)]


def _sources(netlist: Netlist, bits: Iterable[Bit]) -> set[Source]:
    """Inputs and registers by name, and read ports by key, that nets depend on."""
    return {(name, place // number(netlist.cells[name]["parameters"]["WIDTH"]))
            if port == "RD_DATA" else name for name, port, place in netlist.sources(bits)}


def lookahead(netlist: Netlist, index: str) -> dict[Source, int]:
    """How many slots before its own an instance's registers and read ports are needed.

    They are for addresses of memories that are read at once, which become known a slot early.

    Returns
    -------
    defaultdict
        By register's name or ``NetlistReadPort.key``; zero unless said otherwise.

    Raises
    ------
    FoldingError
        If the address of a memory that is read at once depends on an input.
    """
    ports = {port.key: port for name, cell in netlist.cells.items() if cell["type"] == "$mem_v2"
             for port in read_ports(name, cell)}
    ahead: dict[Source, int] = defaultdict(int)
    waiting = [key for key, port in ports.items() if not port.synchronous]
    while waiting:
        key = waiting.pop()
        needed = ahead[key] + 1
        for source in _sources(netlist, ports[key].address):
            if source in netlist.ports:
                if source != index:
                    raise FoldingError(f"memory {key[0]} is read at once where input {source} says")
            elif needed > ahead[source]:
                ahead[source] = needed
                if source in ports and not ports[source].synchronous:
                    waiting.append(source)
    return ahead


def shared_registers(netlist: Netlist, registers: dict[str, Any], inputs: set[str],
                     private: Container[str]) -> set[str]:
    """Names of the registers that are the same in all instances.

    Parameters
    ----------
    netlist : Netlist
        The netlist.
    registers : dict
        ``NetlistRegister`` by name.
    inputs : set
        Inputs that are the same in all instances.
    private : container
        Registers that shall not count.
    """
    sources = {name: _sources(netlist, register.inputs) for name, register in registers.items()
               if name not in private}
    shared = set(sources)
    while True:
        kept = {name for name in shared if sources[name] <= shared | inputs}
        if kept == shared:
            return shared
        shared = kept
