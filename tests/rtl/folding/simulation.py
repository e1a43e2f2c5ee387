# SPDX-License-Identifier: BSD-2-Clause
"""Runs a netlist as Yosys' JSON has it, cell by cell."""

import operator
from functools import reduce

__all__ = ["Simulation"]

_BITWISE = {"$and": operator.and_, "$or": operator.or_, "$xor": operator.xor}


class Simulation:
    """A flat module, in cycles of its clock.

    What is unknown is zero, but what is read from a memory while it is written, where the port says
    that this is unknown: then it is the inverse of what was there.

    Parameters
    ----------
    module : dict
        As Yosys writes it.
    """

    def __init__(self, module):
        self._cells, self._ports = module["cells"], module["ports"]
        self._drivers = {}
        for name, cell in self._cells.items():
            for port, bits in cell["connections"].items():
                for place, bit in enumerate(bits):
                    if cell["port_directions"][port] == "output":
                        assert bit not in self._drivers, f"net {bit} has two drivers"
                        self._drivers[bit] = name, port, place
        self._state, self._memories, self._now = {}, {}, {}
        for one in module["netnames"].values():
            for bit, value in zip(one["bits"], reversed(one["attributes"].get("init", "")),
                                  strict=False):
                self._state[bit] = int(value == "1")
        for name, cell in self._cells.items():
            if cell["type"] == "$mem_v2":
                width, depth = _parameter(cell, "WIDTH"), 1 << _parameter(cell, "ABITS")
                content = cell["parameters"]["INIT"].replace("x", "0").rjust(width * depth, "0")
                self._memories[name] = [
                    int(content[len(content) - start - width:len(content) - start], 2)
                    for start in range(0, width * depth, width)]
                self._state.update(
                    (bit, int(value == "1")) for bit, value in zip(
                        cell["connections"]["RD_DATA"],
                        reversed(cell["parameters"]["RD_INIT_VALUE"]), strict=True))

    def begin(self, **inputs):
        """Begin a cycle with inputs, by name."""
        self._now = {bit: inputs[name] >> place & 1 for name, port in self._ports.items()
                     if port["direction"] == "input" and name in inputs
                     for place, bit in enumerate(port["bits"])}

    def value(self, bits):
        """What nets are in this cycle, as a number."""
        return sum(self._bit(bit) << place for place, bit in enumerate(bits))

    def outputs(self):
        """All outputs in this cycle, by name."""
        return {name: self.value(port["bits"]) for name, port in self._ports.items()
                if port["direction"] == "output"}

    def tick(self):
        """End the cycle."""
        following, written = {}, []
        for name, cell in self._cells.items():
            if cell["type"] == "$mem_v2":
                writes = list(self._writes(name, cell))
                written += [(name, *write) for write in writes]
                self._read(name, cell, writes, following)
            elif "Q" in cell["connections"]:
                following.update(zip(cell["connections"]["Q"], self._next(cell), strict=True))
        self._state.update(following)
        for name, address, mask, data in written:
            memory = self._memories[name]
            memory[address] = memory[address] & ~mask | data & mask

    def step(self, **inputs):
        """Outputs in a cycle with these inputs, which then ends."""
        self.begin(**inputs)
        outputs = self.outputs()
        self.tick()
        return outputs

    def _bit(self, bit):
        if isinstance(bit, str):
            return int(bit == "1")
        if bit not in self._now:
            name, port, place = self._drivers[bit]
            cell = self._cells[name]
            if port == "Q" or (port == "RD_DATA" and _clocked(cell, place)):
                self._now[bit] = self._state.get(bit, 0)
            elif port == "RD_DATA":
                read, place = divmod(place, _parameter(cell, "WIDTH"))
                self._now[bit] = self._word(name, cell, "RD_ADDR", read) >> place & 1
            else:
                value = self._compute(cell)
                self._now.update((output, value >> place & 1) for place, output
                                 in enumerate(cell["connections"]["Y"]))
        return self._now[bit]

    def _compute(self, cell):
        kind, bits = cell["type"], cell["connections"]
        operands = {port: self.value(bits[port]) for port in bits if port != "Y"}
        if kind == "$not":
            return ~operands["A"]
        if kind == "$mux":
            return operands["B" if operands["S"] else "A"]
        if kind == "$add":
            return operands["A"] + operands["B"]
        if kind == "$reduce_and":
            return operands["A"] == (1 << len(bits["A"])) - 1
        return reduce(_BITWISE[kind], operands.values())

    def _next(self, cell):
        bits, parameters = cell["connections"], cell["parameters"]
        active = {port: self.value(bits[port]) == int(parameters[f"{port}_POLARITY"][-1])
                  for port in ("EN", "SRST") if port in bits}
        if active.get("SRST"):
            return [int(value == "1") for value in reversed(parameters["SRST_VALUE"])]
        if active.get("EN", True):
            return [self._bit(bit) for bit in bits["D"]]
        return [self._state.get(bit, 0) for bit in bits["Q"]]

    def _address(self, cell, port, index):
        width = _parameter(cell, "ABITS")
        return self.value(cell["connections"][port][index * width:][:width])

    def _word(self, name, cell, port, index):
        return self._memories[name][self._address(cell, port, index)]

    def _writes(self, name, cell):
        """Address, mask and data of every write port."""
        bits, width = cell["connections"], _parameter(cell, "WIDTH")
        for port in range(_parameter(cell, "WR_PORTS")):
            mask, data = (self.value(bits[name][port * width:][:width])
                          for name in ("WR_EN", "WR_DATA"))
            yield self._address(cell, "WR_ADDR", port), mask, data

    def _read(self, name, cell, writes, following):
        bits, parameters = cell["connections"], cell["parameters"]
        width = _parameter(cell, "WIDTH")
        for port in range(_parameter(cell, "RD_PORTS")):
            if not _clocked(cell, port * width):
                continue
            if self._bit(bits["RD_SRST"][port]):
                value = int(parameters["RD_SRST_VALUE"][::-1][port * width:][:width][::-1]
                            .replace("x", "0"), 2)
            elif self._bit(bits["RD_EN"][port]):
                address = self._address(cell, "RD_ADDR", port)
                value = self._memories[name][address]
                for index, (place, mask, data) in enumerate(writes, port * len(writes)):
                    if place == address and parameters["RD_TRANSPARENCY_MASK"][-1 - index] == "1":
                        value = value & ~mask | data & mask
                    elif place == address and (
                            parameters["RD_COLLISION_X_MASK"][-1 - index] == "1"):
                        value ^= mask
            else:
                continue
            following.update((bit, value >> place & 1) for place, bit
                             in enumerate(bits["RD_DATA"][port * width:][:width]))


def _parameter(cell, name):
    return int(cell["parameters"][name], 2)


def _clocked(cell, place):
    """Whether a bit of what is read comes a cycle after its address."""
    return cell["parameters"]["RD_CLK_ENABLE"][-1 - place // _parameter(cell, "WIDTH")] == "1"
