# SPDX-License-Identifier: BSD-2-Clause
"""A flat module as Yosys writes it to JSON, to be looked at and changed."""

from collections.abc import Iterable
from typing import Any, TypeAlias

__all__ = ["CONSTANTS", "Bit", "Netlist", "number"]

#: A net, or a constant.
Bit: TypeAlias = int | str
#: What stands for a net where there is a constant.
CONSTANTS = frozenset("01xz")
_OUTPUTS = {"Y", "Q", "RD_DATA"}


def number(parameter: str) -> int:
    """The value of a cell's parameter."""
    return int(parameter, 2)


def _parameter(value: int | str) -> str:
    return format(value, "032b") if isinstance(value, int) else value


class Netlist:
    """Cells and ports of a flat module.

    Parameters
    ----------
    module : dict
        The module, as in Yosys' JSON; it is changed in place.

    Attributes
    ----------
    cells, ports : dict
        By name, as in Yosys' JSON. A bit is a net's number, or a constant.
    drivers : dict
        Net that a cell drives to the cell's name, the port and the bit's place in it.
    inputs : dict
        Net that an input port drives to the port's name and the bit's place in it.
    """

    def __init__(self, module: dict[str, Any]) -> None:
        self.cells: dict[str, dict[str, Any]] = module["cells"]
        self.ports: dict[str, dict[str, Any]] = module["ports"]
        self._names: dict[str, dict[str, Any]] = module["netnames"]
        self.drivers: dict[Bit, tuple[str, str, int]] = {
            bit: (name, port, place) for name, cell in self.cells.items()
            for port, bits in cell["connections"].items()
            if cell["port_directions"][port] == "output" for place, bit in enumerate(bits)}
        self.inputs: dict[Bit, tuple[str, int]] = {
            bit: (name, place) for name, port in self.ports.items()
            if port["direction"] == "input" for place, bit in enumerate(port["bits"])}
        self._next = 1 + max((bit for name in self._names.values() for bit in name["bits"]
                              if bit not in CONSTANTS), default=1)

    def nets(self, count: int) -> list[Bit]:
        """New nets."""
        self._next += count
        return list(range(self._next - count, self._next))

    def add(self, name: str, kind: str, connections: dict[str, list[Bit]],
            **parameters: int | str) -> None:
        """Add a cell of a type, with parameters that are numbers or strings of bits.

        Nets that had a driver already keep it in ``drivers``: their cell is about to go.
        """
        for port in _OUTPUTS & connections.keys():
            for place, bit in enumerate(connections[port]):
                self.drivers.setdefault(bit, (name, port, place))
        self.cells[name] = {
            "hide_name": 1, "type": kind, "attributes": {},
            "parameters": {key: _parameter(value) for key, value in parameters.items()},
            "port_directions": {port: "output" if port in _OUTPUTS else "input"
                                for port in connections},
            "connections": connections}

    def gate(self, kind: str, **operands: list[Bit]) -> Bit:
        """Add a cell whose output is one bit, of unsigned operands; returns the output's net."""
        [output] = self.nets(1)
        widths = {f"{key}_{what}": value for key, bits in operands.items()
                  for what, value in (("SIGNED", 0), ("WIDTH", len(bits)))}
        self.add(f"{kind}${output}", kind, {**operands, "Y": [output]}, **widths, Y_WIDTH=1)
        return output

    def flip_flops(self, name: str, data: list[Bit], output: list[Bit], *, initial: str = "",
                   enable: Bit | None = None, keep: bool = False) -> None:
        """Add flip-flops, with values that they hold at first, the lowest bit first.

        With ``keep``, tools do not merge them with others that hold the same.
        """
        connections = {"CLK": self.ports["clk"]["bits"], "D": data, "Q": output}
        parameters: dict[str, int | str] = {"WIDTH": len(data), "CLK_POLARITY": "1"}
        if enable is not None:
            connections["EN"] = [enable]
            parameters["EN_POLARITY"] = "1"
        self.add(name, "$dff" if enable is None else "$dffe", connections, **parameters)
        if keep:
            self.cells[name]["attributes"]["keep"] = "1".zfill(32)
        if initial:
            self.set_initial_values(output, initial)

    def add_port(self, name: str, direction: str, bits: list[Bit]) -> None:
        """Add a port of the module."""
        self.ports[name] = {"direction": direction, "bits": bits}
        self._names[name] = {"hide_name": 0, "bits": bits, "attributes": {}}

    def take_initial_values(self) -> dict[Bit, str]:
        """Remove the nets' initial values. Returns them by net, where one is given."""
        values: dict[Bit, str] = {}
        for name in self._names.values():
            value = name["attributes"].pop("init", None)
            if value is not None:
                values.update(zip(name["bits"], reversed(value.rjust(len(name["bits"]), "x")),
                                  strict=True))
        return {bit: value for bit, value in values.items() if value != "x"}

    def set_initial_values(self, bits: list[Bit], values: str) -> None:
        """Say what nets that a flip-flop drives hold at first."""
        name = f"$initial${bits[0]}"
        self._names[name] = {"hide_name": 1, "bits": bits,
                             "attributes": {"init": "".join(reversed(values))}}

    def sources(self, bits: Iterable[Bit]) -> set[tuple[str, str | None, int]]:
        """What nets depend on, in the same cycle: (cell or input port, port or None, place).

        Registers, memories and inputs end the search.
        """
        found: set[tuple[str, str | None, int]] = set()
        seen: set[Bit] = set()
        stack = list(bits)
        while stack:
            bit = stack.pop()
            if bit in CONSTANTS or bit in seen:
                continue
            seen.add(bit)
            if bit in self.inputs:
                name, place = self.inputs[bit]
                found.add((name, None, place))
                continue
            name, port, place = self.drivers[bit]
            cell = self.cells[name]
            if port in ("Q", "RD_DATA"):
                found.add((name, port, place))
                continue
            for other, operands in cell["connections"].items():
                if cell["port_directions"][other] == "input":
                    stack += operands
        return found
