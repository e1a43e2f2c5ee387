# SPDX-License-Identifier: BSD-2-Clause
"""Cuts values into limbs of at most 64 bits, at the bits where their readers begin."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hypercast.sim.gates import WIDEST, Bit, Bits, Gate

__all__ = ["Limb", "LimbRun", "cut", "runs"]

#: Kinds of gates whose bits depend each on the same bit of the operands.
BITWISE = ("and", "or", "xor", "not", "mux", "register")
#: Kinds that give as many bits as one asks for, or take them.
_OPEN = (*BITWISE, "input", "read", "fetch")
#: Fewer bits than this are no reason to cut a value.
_LEAST = 8


@dataclass(eq=False)
class Limb:
    """Bits that are kept together.

    Attributes
    ----------
    number : int
        Number of the limb.
    gate : Gate
        Where it comes from.
    first : int
        The first of the gate's bits that it has.
    width : int
        Number of bits.
    """

    number: int
    gate: Gate
    first: int
    width: int

    @property
    def element(self) -> int:
        """Bits of an element of the vectors that hold it: 8, 16, 32 or 64."""
        return next(size for size in (8, 16, 32, 64) if self.width <= size)


@dataclass(frozen=True)
class LimbRun:
    """Part of an operand: a slice of a limb, the same bit of it ``count`` times, or a constant.

    Attributes
    ----------
    limb : Limb or None
        None for a constant.
    first : int
        The slice's first bit; the constant's value.
    width : int
        Bits of the run.
    repeated : bool
        Whether it is one bit, again and again.
    """

    limb: Limb | None
    first: int
    width: int
    repeated: bool = False


class _Cuts:
    """Where wide values are cut: before which bits a limb begins."""

    def __init__(self, gates: Sequence[Gate]) -> None:
        self.begins: set[Bit] = set()
        self._gates = gates
        # Bit to the bit after it in a value that may be cut.
        self._next: dict[Bit, int] = {}
        for gate in gates:
            if gate.kind in _OPEN and len(gate.bits) > WIDEST:
                self._next.update(zip(gate.bits, gate.bits[1:], strict=False))
        self._previous: dict[Bit, Bit] = {second: first for first, second in self._next.items()}

    def find(self, others: Iterable[Bits], joined: Sequence[Gate]) -> None:
        """Find all cuts; ``others`` are operands of memory ports."""
        wide = [gate for gate in (*self._gates, *joined)
                if gate.kind in BITWISE and len(gate.bits) > WIDEST]
        bitwise = {id(gate) for gate in wide}
        for gate in self._gates:
            if id(gate) not in bitwise:
                for bits in gate.operands:
                    self._slices(bits)
        for bits in others:
            self._slices(bits)
        before = -1
        while len(self.begins) != before:
            before = len(self.begins)
            for gate in wide:
                self._agree(gate)
            for gate in reversed(wide):
                self._agree(gate)

    def _slices(self, bits: Bits) -> None:
        """Cut where slices of wide values that are read begin and end."""
        start = 0
        for index in range(1, len(bits) + 1):
            if index < len(bits) and self._next.get(bits[index - 1]) == bits[index]:
                continue
            if index - start >= _LEAST:
                self.begins |= {bits[start]} & self._previous.keys()
                if (after := self._next.get(bits[index - 1])) is not None:
                    self.begins.add(after)
            start = index

    def _agree(self, gate: Gate) -> None:
        """Cut a gate's value where its operands are cut, and the other way round."""
        wide = [bits for bits in gate.operands if len(bits) == len(gate.bits)]
        for bits in wide:
            for index in range(1, len(bits)):
                bit, before = bits[index], bits[index - 1]
                if not isinstance(bit, int) or bit not in self._previous:
                    continue
                if self._previous[bit] != before or bit in self.begins:
                    self.begins |= {gate.bits[index], bit}
                elif gate.bits[index] in self.begins:
                    self.begins.add(bit)


def cut(gates: Sequence[Gate], others: Iterable[Bits],
        joined: Sequence[Gate]) -> dict[Bit, tuple[Limb, int]]:
    """The limb that each bit is in, and its place there.

    Parameters
    ----------
    gates : sequence of Gate
        All gates, among them the module's inputs, of kind ``input``.
    others : iterable of list
        Bits that are read together by readers that are no gates.
    joined : sequence of Gate
        Stand for wires outside, whose ends are cut alike: inputs, and the outputs they come from.
    """
    cuts = _Cuts(gates)
    cuts.find(others, joined)
    places: dict[Bit, tuple[Limb, int]] = {}
    number = 0
    for gate in gates:
        first = 0
        for index in range(1, len(gate.bits) + 1):
            if index < len(gate.bits) and index - first < WIDEST \
                    and gate.bits[index] not in cuts.begins:
                continue
            limb = Limb(number, gate, first, index - first)
            for place, bit in enumerate(gate.bits[first:index]):
                places[bit] = limb, place
            number, first = number + 1, index
    return places


def runs(bits: Sequence[Bit], places: Mapping[Bit, tuple[Limb, int]]) -> Iterator[LimbRun]:
    """The runs that an operand is made of, the lowest bits first; undriven bits are zero."""
    index = 0
    while index < len(bits):
        start = index
        found = places.get(bits[index])
        index += 1
        if found is None:
            value = int(bits[start] == "1")
            while index < len(bits) and bits[index] not in places:
                value |= int(bits[index] == "1") << index - start
                index += 1
            yield LimbRun(None, value, index - start)
            continue
        limb, place = found
        if index < len(bits) and bits[index] == bits[start]:
            while index < len(bits) and bits[index] == bits[start]:
                index += 1
            yield LimbRun(limb, place, index - start, repeated=True)
        else:
            while index < len(bits) and \
                    places.get(bits[index]) == (limb, place + index - start) \
                    and not (index + 1 < len(bits) and bits[index + 1] == bits[index]):
                index += 1
            yield LimbRun(limb, place, index - start)
