# SPDX-License-Identifier: BSD-2-Clause
"""Makes each cycle of a module last several clock cycles, and lets its long paths take several.

A module that changes in the last slot only has all slots before to compute in. Tools that place and
route do not know that, so flip-flops cut its paths: what depends on registers alone is the same
from slot to slot, and as good when it comes some slots later.
"""

from collections.abc import Iterable
from typing import Any

from hypercast.rtl.folding.arrivals import Arrivals, logic
from hypercast.rtl.folding.dependencies import FoldingError, NetlistReadPort, read_ports
from hypercast.rtl.folding.netlist import CONSTANTS, Bit, Netlist
from hypercast.rtl.folding.netlist_registers import KINDS, NetlistRegister, registers

__all__ = ["pace"]

#: Longest path between flip-flops, in levels of logic.
_LEVELS = 5


def pace(module: dict[str, Any], *, slots: int) -> None:
    """Let a module work in the last slot of several.

    The module gets an input ``enable``, to be high in that slot, in which inputs are read. What
    depends on inputs in the same cycle is not cut, for they may change in any slot.

    Parameters
    ----------
    module : dict
        A flat module with one clock, ``clk``, as in Yosys' JSON, of the cells that ``fold`` takes;
        it is changed in place.
    slots : int
        Number of slots.

    Raises
    ------
    FoldingError
        If an output is no register, a path is longer than all slots together, or an address of a
        memory that is read at once takes more than a slot to compute.
    """
    netlist = Netlist(module)
    originals = registers(netlist)
    _Cuts(netlist).insert(slots)
    [enable] = netlist.nets(1)
    _enable(netlist, originals, enable)
    netlist.add_port("enable", "input", [enable])


class _Cuts:
    """Flip-flops in the paths of a netlist."""

    def __init__(self, netlist: Netlist) -> None:
        self._netlist = netlist
        self._arrivals = Arrivals(netlist)
        self._changing = self._dependents(netlist.inputs)
        self._delayed: dict[Bit, Bit] = {}

    def insert(self, slots: int) -> None:
        stages = {id(cell): self._stage(cell["connections"]["Y"][0])
                  for cell in logic(self._netlist)}
        if any(stage >= slots for stage in stages.values()):
            raise FoldingError(f"{slots} slots are too few for the longest path")
        self._check()
        for cell in logic(self._netlist):
            stage = stages[id(cell)]
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "input":
                    cell["connections"][port] = [self._known_net(bit, stage) for bit in bits]

    def _stage(self, bit: Bit) -> int:
        return int(self._arrivals.of(bit) / _LEVELS)

    def _known_net(self, bit: Bit, stage: int) -> Bit:
        """A net, from a flip-flop if it is known in an earlier stage."""
        if bit in CONSTANTS or bit in self._changing or self._stage(bit) >= stage:
            return bit
        if bit not in self._delayed:
            [self._delayed[bit]] = self._netlist.nets(1)
            self._netlist.flip_flops(f"$cut${bit}", [bit], [self._delayed[bit]])
        return self._delayed[bit]

    def _check(self) -> None:
        netlist = self._netlist
        for name, port in netlist.ports.items():
            for bit in port["bits"] if port["direction"] == "output" else []:
                if bit not in CONSTANTS and netlist.drivers[bit][1] != "Q":
                    raise FoldingError(f"output {name} is no register")
        for name, read in self._memory_reads():
            if any(self._stage(bit) for bit in read.address):
                raise FoldingError(f"an address of memory {name}, which is read at once, takes "
                                   f"more than a slot to compute")

    def _memory_reads(self) -> list[tuple[str, NetlistReadPort]]:
        """Ports that are read at once, each with its memory's name."""
        return [(name, port) for name, cell in self._netlist.cells.items()
                if cell["type"] == "$mem_v2" for port in read_ports(name, cell)
                if not port.synchronous]

    def _dependents(self, nets: Iterable[Bit]) -> set[Bit]:
        """All that depends on nets in the same cycle, and they themselves."""
        readers: dict[Bit, list[list[Bit]]] = {}
        for cell in logic(self._netlist):
            for port, bits in cell["connections"].items():
                for bit in bits if cell["port_directions"][port] == "input" else []:
                    readers.setdefault(bit, []).append(cell["connections"]["Y"])
        for _, port in self._memory_reads():
            for bit in port.address:
                readers.setdefault(bit, []).append(port.data)
        found: set[Bit] = set()
        new = set(nets)
        while new:
            found |= new
            new = {output for bit in new for outputs in readers.get(bit, [])
                   for output in outputs} - found
        return found


def _enable(netlist: Netlist, originals: dict[str, NetlistRegister], enable: Bit) -> None:
    """Let registers and memories change in one slot only; flip-flops that cut paths do in all."""
    gated: dict[Bit, Bit] = {"1": enable, "0": "0"}

    def gate(bit: Bit) -> Bit:
        if bit not in gated:
            gated[bit] = netlist.gate("$and", A=[bit], B=[enable])
        return gated[bit]

    for name, register in originals.items():
        cell = netlist.cells[name]
        # Resets come from logic, too, where Yosys found that some was one.
        resettable = KINDS[cell["type"]][1]
        cell["type"] = "$sdffe" if resettable else "$dffe"
        for port, bit in [("EN", register.enable), ("SRST", register.reset)][:1 + resettable]:
            cell["connections"][port] = [gate(bit)]
            cell["port_directions"][port] = "input"
            cell["parameters"][f"{port}_POLARITY"] = "1"
    for name, cell in list(netlist.cells.items()):
        if cell["type"] == "$mem_v2":
            connections = cell["connections"]
            connections["WR_EN"] = [gate(bit) for bit in connections["WR_EN"]]
            connections["RD_EN"] = [gate(port.enable) if port.synchronous else port.enable
                                    for port in read_ports(name, cell)]
