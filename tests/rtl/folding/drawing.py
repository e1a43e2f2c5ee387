# SPDX-License-Identifier: BSD-2-Clause
"""Random modules, as Yosys' JSON has them."""

import random

__all__ = ["INPUTS", "RESET_CYCLES", "Drawing"]

#: Inputs of every drawn module, with their widths; ``core`` and ``own`` differ between instances.
INPUTS = {"rst": 1, "core": 3, "common": 2, "own": 2}
#: Cycles of reset after which nothing depends on what was there before.
RESET_CYCLES = 6
_GATES = ("$and", "$or", "$xor", "$add", "$mux", "$not")


class Drawing:
    """A module of gates, registers of all kinds and memories.

    Parameters
    ----------
    seed : int
        Seed of what is drawn.
    known : bool
        Whether memories that are read at once are read where registers, ``core`` and another such
        memory say; else it is where registers and inputs say.

    Attributes
    ----------
    module : dict
        The module. Its reset reaches all but a few registers; those hold what others say.
    """

    def __init__(self, seed, *, known):
        self._rng = random.Random(seed)
        self._next = 2
        self._clock = self.nets(1)
        self.module = {"cells": {}, "netnames": {},
                       "ports": {"clk": {"direction": "input", "bits": self._clock}}}
        for name, width in INPUTS.items():
            self.module["ports"][name] = {"direction": "input", "bits": self.nets(width)}
        ports = self.module["ports"]
        self._reset = ports["rst"]["bits"]
        inputs = [bit for name in INPUTS for bit in ports[name]["bits"]]
        outputs = [self.nets(self._rng.randrange(1, 10)) for _ in range(5)]
        stored = [bit for bits in outputs for bit in bits]
        self._pool = [*inputs, *stored]
        # What may say where a memory is read at once, and what may where others read from there.
        self._begin = [*(ports["core"]["bits"] if known else inputs), *stored]
        self._known, self._chained = [*self._begin], known
        self._draw(outputs, stored)

    def nets(self, count):
        self._next += count
        return list(range(self._next - count, self._next))

    def cell(self, kind, inputs, outputs, **parameters):
        """Add a cell; returns the nets of its only output."""
        name = f"cell{len(self.module['cells'])}"
        self.module["cells"][name] = {
            "type": kind, "parameters": parameters, "attributes": {},
            "connections": {**inputs, **outputs},
            "port_directions": {**dict.fromkeys(inputs, "input"),
                                **dict.fromkeys(outputs, "output")}}
        [bits] = outputs.values()
        return bits

    def gate(self, kind, width=1, **operands):
        widths = {f"{port}_WIDTH": f"{len(bits):b}" for port, bits in operands.items()}
        return self.cell(kind, operands, {"Y": self.nets(width)}, **widths, Y_WIDTH=f"{width:b}")

    def _draw(self, outputs, stored):
        rng = self._rng
        memories = []
        for _ in range(4):
            self._gates(6)
            kind = rng.choice(["memory", "$dff", "$dffe"])
            if kind == "memory":
                memories.append(self._memory())
                continue
            bits = self.nets(rng.randrange(1, 9))
            self._register(kind, self._some(len(bits)), bits, self._pool)
            self._pool += bits
            stored += bits
        self._gates(10)
        for bits in outputs:
            self._register(rng.choice(["$sdff", "$sdffe"]), self._some(len(bits)), bits,
                           self._pool)
        for memory in memories:
            self._write(memory)
        for name in "ab":
            bits = [*rng.sample(stored, rng.randrange(1, 8)), "1"]
            self.module["ports"][name] = {"direction": "output", "bits": bits}
            self.module["netnames"][name] = {"bits": bits, "attributes": {}}
        self.module["netnames"]["last"] = {"bits": [self._next], "attributes": {}}

    def _some(self, count):
        return [self._rng.choice(self._pool) if self._rng.random() < 0.95 else
                self._rng.choice("01") for _ in range(count)]

    def _gates(self, count):
        for _ in range(count):
            kind = self._rng.choice(_GATES)
            width = self._rng.randrange(1, 4)
            operands = {"A": self._some(width)}
            if kind != "$not":
                operands["B"] = self._some(width)
            if kind == "$mux":
                operands["S"] = [self._rng.choice(self._pool)]
            self._pool += self.gate(kind, width, **operands)

    def _register(self, kind, data, output, pool):
        """All of it is as the reset says when that has lasted."""
        rng = self._rng
        inputs, parameters = {"CLK": self._clock, "D": data}, {}
        if kind.endswith("e"):
            enable = [rng.choice(pool)]
            if kind == "$dffe":
                enable = self.gate("$or", A=enable, B=self._reset)
            inputs["EN"], parameters["EN_POLARITY"] = self._polarity(enable)
        value = "".join(rng.choice("01") for _ in data)
        if kind.startswith("$s"):
            reset = self._reset
            if rng.random() < 0.7:
                reset = self.gate("$or", A=reset, B=[rng.choice(pool)])
            inputs["SRST"], parameters["SRST_POLARITY"] = self._polarity(reset)
            parameters["SRST_VALUE"] = value
            self.module["netnames"][f"q{output[0]}"] = {
                "bits": output, "attributes": {"init": value}}
        self.cell(kind, inputs, {"Q": output}, **parameters)

    def _polarity(self, control):
        if self._rng.random() < 0.5:
            return control, "1"
        return self.gate("$not", A=control), "0"

    def _memory(self):
        """A memory with one or two read ports, of which one may be read at once."""
        rng = self._rng
        abits, width, ports = rng.randrange(1, 3), rng.randrange(1, 4), rng.randrange(1, 3)
        clocked = "".join(rng.choice("01") for _ in range(ports))
        addresses, enables = [], []
        for port in range(ports):
            if clocked[-1 - port] == "1":
                addresses += self._some(abits)
                enables += self.gate("$or", A=[rng.choice(self._pool)], B=self._reset)
            else:
                addresses += self.gate("$xor", abits, A=rng.choices(self._known, k=abits),
                                       B=rng.choices(self._known, k=abits))
                enables += "1"
        data = self.nets(width * ports)
        init = "".join(rng.choice("01") for _ in range(width << abits))
        writes = rng.randrange(2)
        self.cell("$mem_v2", {
            "RD_ADDR": addresses, "RD_EN": enables, "RD_CLK": self._clock * ports,
            "RD_ARST": ["0"] * ports, "RD_SRST": ["0"] * ports,
            "WR_ADDR": [], "WR_DATA": [], "WR_EN": [], "WR_CLK": []},
            {"RD_DATA": data}, ABITS=f"{abits:b}", WIDTH=f"{width:b}", SIZE=f"{1 << abits:b}",
            INIT=rng.choice([init, "x"]) if writes else init,
            RD_PORTS=f"{ports:b}", WR_PORTS=f"{writes:b}", RD_CLK_ENABLE=clocked,
            RD_CLK_POLARITY="1" * ports, RD_TRANSPARENCY_MASK="0" * max(1, ports * writes),
            RD_COLLISION_X_MASK="0" * max(1, ports * writes), RD_SRST_VALUE="x" * width * ports,
            RD_INIT_VALUE="x" * width * ports)
        memory = list(self.module["cells"].values())[-1]
        data = self.gate("$not", len(data), A=data)
        self._pool += data
        if "0" not in clocked:
            self._begin += data
            self._known += data
        elif self._chained:
            self._known = [*self._begin, *data]
            self._chained = False
        return memory

    def _write(self, memory):
        """Drive the write port, which does nothing while in reset."""
        if memory["parameters"]["WR_PORTS"] == "0":
            return
        number = {name: int(memory["parameters"][name], 2) for name in ("ABITS", "WIDTH")}
        [running] = self.gate("$not", A=self._reset)
        masks = [self._rng.choice(self._pool) for _ in range(number["WIDTH"])]
        connections = memory["connections"]
        connections["WR_ADDR"] = self._some(number["ABITS"])
        connections["WR_DATA"] = self._some(number["WIDTH"])
        connections["WR_EN"] = [self.gate("$and", A=[mask], B=[running])[0] for mask in masks]
        connections["WR_CLK"] = self._clock
