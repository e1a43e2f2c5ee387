# SPDX-License-Identifier: BSD-2-Clause
"""Reads a flat netlist of Yosys as gates of few kinds, for C++ of whole groups of cores.

Whatever Yosys' cells leave to parameters (how operands are extended, which way a comparison goes)
is in the operands' bits here. Shifts of wide values become stages of ``mux``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partialmethod
from typing import Any, TypeAlias

from hypercast.errors import InputError

__all__ = ["Bit", "Gate", "GateMemory", "GateNetlist", "MemoryPort", "read_netlist"]

#: A net's number, or a constant: ``"0"`` or ``"1"``.
Bit: TypeAlias = int | str
Bits: TypeAlias = list[Bit]

#: Bits of the widest value that an arithmetic gate gives or takes.
WIDEST = 64
#: Bits of an addition that is done in steps.
_STEP = 60


@dataclass(eq=False)
class Gate:
    """The operation that gives a value.

    Attributes
    ----------
    kind : str
        One of: ``and``, ``or``, ``xor``, ``not``, ``mux`` (of two values and the bit that chooses
        the second one), ``any``, ``all``, ``odd`` (of all bits, the first one alone depends on
        them), ``add``, ``sub``, ``mul``, ``equal``, ``less``, ``signed_less``, ``left``,
        ``right``, ``signed_right``, ``register``, and ``read``: a port of a memory.
    part : str
        The part it belongs to.
    bits : list of int
        Nets that it drives.
    operands : list
        Bits of each operand.
    """

    kind: str
    part: str
    bits: list[int]
    operands: list[Bits]
    memory: "MemoryPort | None" = None


@dataclass(eq=False)
class MemoryPort:
    """A port of a memory: its address, its enable bits, and the data that it takes or gives."""

    memory: "GateMemory"
    address: Bits
    enable: Bits
    data: Bits


@dataclass(eq=False)
class GateMemory:
    """A memory: words of ``width`` bits, and its write ports. Later ports have priority."""

    name: str
    part: str
    depth: int
    width: int
    initial: str
    writes: list[MemoryPort] = field(default_factory=list)


@dataclass
class GateNetlist:
    """Gates and memories of a module; ``initial`` has registers' bits that begin with one."""

    gates: list[Gate]
    memories: list[GateMemory]
    ports: dict[str, tuple[str, Bits]]
    names: dict[str, Bits]
    initial: set[int]


def _number(parameters: Mapping[str, str], name: str) -> int:
    return int(parameters[name].replace("x", "0"), 2)


def _extend(bits: Bits, width: int, signed: bool) -> Bits:
    top: Bit = bits[-1] if signed and bits else "0"
    return [*bits[:width], *[top] * (width - len(bits))]


class _Reader:
    """Turns cells into gates."""

    def __init__(self, module: Mapping[str, Any], part_of: Mapping[str, str]) -> None:
        self.gates: list[Gate] = []
        self.memories: list[GateMemory] = []
        self._alias: dict[int, Bit] = {}
        nets = [bit for net in module["netnames"].values() for bit in net["bits"]
                if isinstance(bit, int)]
        self._next = max(nets, default=0) + 1
        self._part = ""
        for name, cell in module["cells"].items():
            self._part = part_of[name]
            self._cell(name, cell)

    # Bits.

    def fresh(self, count: int) -> list[int]:
        self._next += count
        return list(range(self._next - count, self._next))

    def see_through(self, bit: Bit) -> Bit:
        """The bit behind wires that only pass it on; an undefined bit is zero."""
        while isinstance(bit, int) and bit in self._alias:
            bit = self._alias[bit]
        return bit if bit == "1" or isinstance(bit, int) else "0"

    def make(self, kind: str, operands: Sequence[Bits], width: int,
             bits: list[int] | None = None) -> Bits:
        """Add a gate; returns the bits that it drives."""
        driven = self.fresh(width) if bits is None else bits
        self.gates.append(Gate(kind, self._part, driven, list(operands)))
        return list(driven)

    def pass_on(self, bits: Sequence[Any], values: Bits) -> None:
        """Nets that only pass on other bits."""
        for bit, value in zip(bits, values, strict=True):
            if isinstance(bit, int):
                self._alias[bit] = value

    # Cells.

    def _cell(self, name: str, cell: Mapping[str, Any]) -> None:
        kind, parameters, ends = cell["type"], cell["parameters"], cell["connections"]
        if kind == "$scopeinfo":
            return
        if kind == "$mem_v2":
            self._memory(name, parameters, ends)
            return
        if kind == "$dff":
            self.make("register", [ends["D"]], 0, ends["Q"])
            return
        signed = [_number(parameters, f"{end}_SIGNED") == 1
                  for end in "AB" if f"{end}_SIGNED" in parameters]
        handler: Callable[[Mapping[str, Any], list[bool]], Bits] | None = getattr(
            self, f"_{kind[1:]}", None) if kind.startswith("$") else None
        if handler is None:
            raise InputError(f"the simulation has no rule for a cell of type {kind} ({name})")
        self.pass_on(ends["Y"], _extend(handler(ends, signed), len(ends["Y"]), False))

    def _both(self, ends: Mapping[str, Any], signed: Sequence[bool], width: int) -> list[Bits]:
        return [_extend(ends[end], width, all(signed)) for end in "AB"]

    def _not(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        width = len(ends["Y"])
        return self.make("not", [_extend(ends["A"], width, signed[0])], width)

    def _pos(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        return _extend(ends["A"], len(ends["Y"]), signed[0])

    def _bitwise(self, kind: str, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        width = len(ends["Y"])
        return self.make(kind, self._both(ends, signed, width), width)

    def _reduce(self, kind: str, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        return self.make(kind, [ends["A"]], 1)

    _and, _or = partialmethod(_bitwise, "and"), partialmethod(_bitwise, "or")
    _xor = partialmethod(_bitwise, "xor")
    _reduce_and, _reduce_xor = partialmethod(_reduce, "all"), partialmethod(_reduce, "odd")
    _reduce_or = _reduce_bool = partialmethod(_reduce, "any")

    def _logic_not(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        return self.negate(self.make("any", [ends["A"]], 1))

    def negate(self, bit: Bits) -> Bits:
        return self.make("not", [bit], 1)

    def _logic_and(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        return self.make("and", [self.make("any", [ends[end]], 1) for end in "AB"], 1)

    def _logic_or(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        return self.make("any", [[*ends["A"], *ends["B"]]], 1)

    # Arithmetic.

    def add(self, first: Bits, second: Bits, carry: Bits) -> Bits:
        """The sum of two numbers as wide as each other, and of a carry."""
        width = len(first)
        if width <= WIDEST:
            return self.make("add", [first, second, _extend(carry, width, False)][
                :3 if carry else 2], width)
        found: Bits = []
        for low in range(0, width, _STEP):
            step = min(_STEP, width - low)
            total = self.make("add", [_extend(bits, step + 1, False) for bits in (
                first[low:low + step], second[low:low + step], carry)], step + 1)
            found += total[:step]
            carry = total[step:]
        return found

    def _add(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        first, second = self._both(ends, signed, len(ends["Y"]))
        return self.add(first, second, [])

    def _sub(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        width = len(ends["Y"])
        first, second = self._both(ends, signed, width)
        if width <= WIDEST:
            return self.make("sub", [first, second], width)
        return self.add(first, self.make("not", [second], width), ["1"])

    def _neg(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        width = len(ends["Y"])
        return self._sub({"A": ["0"] * width, "B": _extend(ends["A"], width, signed[0]),
                          "Y": ends["Y"]}, [False])

    def _mul(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        width = len(ends["Y"])
        if width > WIDEST:
            raise InputError(f"the simulation multiplies {WIDEST} bits at most, not {width}")
        return self.make("mul", self._both(ends, signed, width), width)

    # Comparisons.

    def _widest(self, ends: Mapping[str, Any], signed: list[bool]) -> list[Bits]:
        return self._both(ends, signed, max(len(ends["A"]), len(ends["B"])))

    def _eq(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        first, second = self._widest(ends, signed)
        if len(first) <= WIDEST:
            return self.make("equal", [first, second], 1)
        return self.negate(self.make("any", [self.make("xor", [first, second], len(first))], 1))

    def _ne(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        return self.negate(self._eq(ends, signed))

    _eqx, _nex = _eq, _ne

    def _less(self, first: Bits, second: Bits, signed: bool) -> Bits:
        width = len(first)
        if width <= WIDEST:
            return self.make("signed_less" if signed else "less", [first, second], 1)
        if signed:  # as numbers without sign, when both are raised
            first, second = ([*bits[:-1], *self.negate(bits[-1:])] for bits in (first, second))
        others = self.make("not", [second], width)
        return self.negate(self.add([*first, "0"], [*others, "0"], ["1"])[width:])

    def _lt(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        first, second = self._widest(ends, signed)
        return self._less(first, second, all(signed))

    def _gt(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        first, second = self._widest(ends, signed)
        return self._less(second, first, all(signed))

    def _ge(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        return self.negate(self._lt(ends, signed))

    def _le(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        return self.negate(self._gt(ends, signed))

    # Choices and shifts.

    def mux(self, no: Bits, yes: Bits, choice: Bit) -> Bits:
        """The second value if a bit is set."""
        return self.make("mux", [no, yes, [choice]], len(no))

    def _mux(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        return self.mux(ends["A"], ends["B"], ends["S"][0])

    def _pmux(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        found: Bits = ends["A"]
        width = len(found)
        for index in reversed(range(len(ends["S"]))):
            found = self.mux(found, ends["B"][index * width:(index + 1) * width],
                             ends["S"][index])
        return found

    def _bmux(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        width, found = len(ends["Y"]), list(ends["A"])
        for choice in reversed(ends["S"]):
            half = len(found) // 2
            found = self.mux(found[:half], found[half:], choice)
        return found[:width]

    def _shift_gate(self, kind: str, ends: Mapping[str, Any], signed: bool) -> Bits:
        """A shift by a number without sign; copies of the sign come in, if there is one."""
        width = len(ends["Y"])
        bits: Bits = _extend(ends["A"], max(width, len(ends["A"])), signed)
        amount: Bits = ends["B"]
        top: Bit = bits[-1] if signed else "0"
        if len(bits) <= WIDEST and kind == "left":
            return self.make(kind, [bits[:width], amount], width)
        if len(bits) <= WIDEST:
            return self.make("signed_right" if signed else kind, [bits, amount], len(bits))[:width]
        for stage in reversed(range(len(amount))):
            step = min(1 << stage, len(bits))
            if kind == "left":
                moved: Bits = [*["0"] * step, *bits[:len(bits) - step]]
            else:
                moved = [*bits[step:], *[top] * step]
                needed = width + (1 << stage) - 1  # the stages to come move no more
                bits, moved = bits[:needed], moved[:needed]
            bits = self.mux(bits, moved, amount[stage])
        return bits[:width]

    def _shl(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        return self._shift_gate("left", ends, signed[0])

    _sshl = _shl

    def _shr(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        wide = _extend(ends["A"], max(len(ends["A"]), len(ends["Y"])), signed[0])
        return self._shift_gate("right", {**ends, "A": wide}, False)

    def _sshr(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        return self._shift_gate("right", ends, signed[0])

    def _shift(self, ends: Mapping[str, Any], signed: list[bool]) -> Bits:
        if signed[1] and self.see_through(ends["B"][-1]) != "0":
            raise InputError("the simulation has no shifts whose direction depends on their amount")
        return self._shr(ends, signed)

    _shiftx = _shift

    # Memories.

    def _memory(self, name: str, parameters: Mapping[str, str], ends: Mapping[str, Any]) -> None:
        width, ports = _number(parameters, "WIDTH"), {
            end: _number(parameters, f"{end}_PORTS") for end in ("RD", "WR")}
        address_bits = _number(parameters, "ABITS")
        if "1" in parameters["RD_TRANSPARENCY_MASK"] or _number(parameters, "OFFSET"):
            raise InputError(f"the simulation has no rule for memory {name}: it has transparent "
                             f"ports, or begins at another address than zero")
        memory = GateMemory(parameters["MEMID"].removeprefix("\\"), self._part,
                            _number(parameters, "SIZE"), width, parameters["INIT"])
        self.memories.append(memory)

        def part(end: str, index: int, count: int) -> Bits:
            return list(ends[end][index * count:(index + 1) * count])

        clocked = parameters["RD_CLK_ENABLE"][::-1]
        for index in range(ports["RD"]):
            port = MemoryPort(memory, part("RD_ADDR", index, address_bits),
                              part("RD_EN", index, 1), part("RD_DATA", index, width))
            if {self.see_through(bit) for bit in (*part("RD_SRST", index, 1),
                                                  *part("RD_ARST", index, 1))} != {"0"}:
                raise InputError(f"memory {name} has a read port with a reset")
            is_clocked = clocked[index] == "1"
            data = [bit for bit in port.data if isinstance(bit, int)]
            self.gates.append(Gate(
                "fetch" if is_clocked else "read", self._part, data,
                [port.address, port.enable] if is_clocked else [port.address], port))
        for index in range(ports["WR"]):
            memory.writes.append(MemoryPort(
                memory, part("WR_ADDR", index, address_bits), part("WR_EN", index, width),
                part("WR_DATA", index, width)))


def read_netlist(module: Mapping[str, Any], part_of: Mapping[str, str]) -> GateNetlist:
    """The gates of a module.

    Parameters
    ----------
    module : dict
        A flat module of Yosys' JSON, its memories collected, with no flip-flops but ``$dff``.
    part_of : dict
        Name of each cell to the part it belongs to.

    Raises
    ------
    InputError
        If there is a cell that no gates are known for.
    """
    reader = _Reader(module, part_of)

    def seen(bits: Sequence[Any]) -> Bits:
        return [reader.see_through(bit) for bit in bits]

    for gate in reader.gates:
        gate.operands = [seen(bits) for bits in gate.operands]
    for memory in reader.memories:
        for port in memory.writes:
            port.address, port.enable, port.data = map(
                seen, (port.address, port.enable, port.data))
    initial = {bit for net in module["netnames"].values()
               for bit, value in zip(net["bits"],
                                     reversed(net.get("attributes", {}).get("init", "")),
                                     strict=False) if value == "1"}
    return GateNetlist(
        gates=reader.gates, memories=reader.memories,
        ports={name: (port["direction"], seen(port["bits"]))
               for name, port in module["ports"].items()},
        names={name: seen(net["bits"]) for name, net in module["netnames"].items()},
        initial=initial)
