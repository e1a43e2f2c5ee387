# SPDX-License-Identifier: BSD-2-Clause
"""C++ of gates, for a group of cores at once: a vector has one element for each of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from hypercast.errors import InputError
from hypercast.sim.gates import Bit, Bits
from hypercast.sim.limbs import Limb, LimbRun, runs

__all__ = ["VectorOperands", "gate_code", "literal"]

#: C++ of a vector, or a constant that all elements have.
Expression: TypeAlias = str | int


def _ones(width: int) -> int:
    return (1 << width) - 1


def literal(value: int) -> str:
    """A constant in C++."""
    return f"{value:#x}ull" if value >> 31 else str(value)


class VectorOperands:
    """Operands as C++, from the limbs that they are made of.

    Parameters
    ----------
    places : dict
        The limb that each bit is in, and its place there.
    name : callable
        C++ of a limb's vector.
    keep : callable
        Gives an expression a name, with which it can be used again: called with C++ and the bits
        of its elements.
    """

    def __init__(self, places: Mapping[Bit, tuple[Limb, int]], name: Callable[[Limb], str],
                 keep: Callable[[str, int], str]) -> None:
        self._places = places
        self._name = name
        self._keep = keep

    def runs(self, bits: Sequence[Bit]) -> list[LimbRun]:
        """The runs of an operand."""
        return list(runs(bits, self._places))

    def vector(self, bits: Sequence[Bit], size: int) -> str:
        """As ``expression``, but always C++."""
        found = self.expression(bits, size)
        return found if isinstance(found, str) else f"ALL({size}, {literal(found)})"

    def expression(self, bits: Sequence[Bit], size: int, *, clean: bool = True) -> Expression:
        """An operand in elements of ``size`` bits.

        Unless it is to be ``clean``, anything may be above the operand's bits.
        """
        terms, constant, position = [], 0, 0
        found = self.runs(bits)
        while found:
            run = found.pop(0)
            last = not found
            sign = found[0] if found else None
            if run.limb is None:
                constant |= run.first << position
            elif len(found) == 1 and sign and not run.repeated and sign.repeated \
                    and sign.limb is run.limb and sign.first == run.first + run.width:
                found.pop()
                terms.append(self._extend(run, sign, position, size, clean))
                position += sign.width
            elif run.repeated:
                bit = self._slice(LimbRun(run.limb, run.first, 1), 0, size, False)
                spread = f"-{bit}"
                if not last or (clean and position + run.width < size):
                    spread = f"({spread} & {literal(_ones(run.width))})"
                terms.append(f"({spread} << {position})" if position else f"({spread})")
            else:
                terms.append(self._slice(run, position, size, last and not clean))
            position += run.width
        if not terms:
            return constant
        if constant:
            terms.append(literal(constant))
        return terms[0] if len(terms) == 1 else f"({' | '.join(terms)})"

    def bit(self, bit: Bit) -> Expression:
        """A single bit, in elements of 8 bits."""
        return self.expression([bit], 8)

    def mask(self, choice: str, size: int) -> str:
        """Elements of ones where a bit is set, and of zeros elsewhere."""
        return self.keep(f"MASK({size}, {choice})", size)

    def keep(self, expression: str, size: int) -> str:
        """An expression's name, so that it is computed once."""
        return self._keep(expression, size)

    def in_place(self, run: LimbRun) -> str:
        """A run where it is in its limb, and zeros around it."""
        assert run.limb
        name = self._name(run.limb)
        width = 1 if run.repeated else run.width
        return name if width == run.limb.width else \
            f"({name} & {literal(_ones(width) << run.first)})"

    def _convert(self, limb: Limb, size: int) -> str:
        name = self._name(limb)
        return name if limb.element == size else self._keep(f"TO({size}, {name})", size)

    def _slice(self, run: LimbRun, position: int, size: int, dirty: bool) -> str:
        """A slice, moved to a position."""
        limb = run.limb
        assert limb
        above = run.first + run.width < limb.width
        if limb.element > size:  # the bits first, then elements of fewer bits
            found = self._name(limb)
            if run.first:
                found = f"({found} >> {run.first})"
            found = self._keep(f"TO({size}, {found})", size)
            if above and run.width < size and not dirty:
                found = f"({found} & {literal(_ones(run.width))})"
            return f"({found} << {position})" if position else found
        found = self._convert(limb, size)
        low = bool(min(run.first, position))
        high = above and not dirty and position + run.width < size
        if low or high:
            mask = _ones(run.width if high else size - run.first) << run.first
            found = f"({found} & {literal(mask & _ones(size))})"
        shift = position - run.first
        return f"({found} {'<<' if shift > 0 else '>>'} {abs(shift)})" if shift else found

    def _extend(self, run: LimbRun, sign: LimbRun, position: int, size: int,
                clean: bool) -> str:
        """A slice and its sign, which is above it, again and again."""
        limb, width = run.limb, run.width + 1
        assert limb
        total = width - 1 + sign.width
        if limb.element <= size and run.first == 0 and width == limb.element:
            found = self._keep(f"EXTEND({size}, {limb.element}, {self._name(limb)})", size)
        else:
            if limb.element > size:
                found = f"TO({size}, {self._name(limb)} >> {run.first})"
                first = 0
            else:
                found, first = self._convert(limb, size), run.first
            left, right = size - first - width, size - width
            if left:
                found = f"({found} << {left})"
            found = self._keep(f"SHIFT({size}, {found}, {right})", size)
        if clean and position + total < size:
            found = f"({found} & {literal(_ones(total))})"
        return f"({found} << {position})" if position else found


def _size(width: int) -> int:
    return next(size for size in (8, 16, 32, 64) if width <= size)


def _mask(expression: str, width: int) -> str:
    return expression if width in (8, 16, 32, 64) else f"({expression}) & {literal(_ones(width))}"


def _constant(value: int, size: int) -> str:
    return f"ALL({size}, {literal(value)})"


def gate_code(kind: str, width: int, inputs: Sequence[Bits], operands: VectorOperands) -> str:
    """C++ of a gate's value, in the elements that ``width`` bits need."""
    found = _RULES[kind](width, inputs, operands)
    return _constant(found, _size(width)) if isinstance(found, int) else found


def _bitwise(sign: str) -> Callable[[int, Sequence[Bits], VectorOperands], Expression]:
    def rule(width: int, inputs: Sequence[Bits], operands: VectorOperands) -> Expression:
        first, second = (operands.vector(bits, _size(width)) for bits in inputs)
        return f"{first} {sign} {second}"
    return rule


def _not(width: int, inputs: Sequence[Bits], operands: VectorOperands) -> Expression:
    return f"{operands.vector(inputs[0], _size(width))} ^ {literal(_ones(width))}"


def _same(width: int, inputs: Sequence[Bits], operands: VectorOperands) -> Expression:
    return operands.expression(inputs[0], _size(width))


def _mux(width: int, inputs: Sequence[Bits], operands: VectorOperands) -> Expression:
    size = _size(width)
    choice = operands.bit(inputs[2][0])
    if isinstance(choice, int):
        return operands.expression(inputs[choice], size)
    no, yes = (operands.expression(bits, size) for bits in inputs[:2])
    if no == yes:
        return no
    if width == 1:
        if no == 0:
            return f"{choice} & {yes}"
        if yes == 1:
            return f"{choice} | {no}"
        if yes == 0:
            return f"{no} & ~{choice}"
        if no == 1:
            return f"{yes} | ({choice} ^ 1)"
        return f"{no} ^ (({no} ^ {yes}) & {choice})"
    mask = operands.mask(choice, size)
    if no == 0:
        return f"{mask} & {yes if isinstance(yes, str) else literal(yes)}"
    if yes == 0:
        return f"~{mask} & {no if isinstance(no, str) else literal(no)}"
    no, yes = (value if isinstance(value, str) else _constant(value, size) for value in (no, yes))
    return f"CHOOSE({size}, {mask}, {yes}, {no})"


def _group(found: Iterable[LimbRun], operands: VectorOperands) -> dict[int, list[str]]:
    """Runs in place, by bits of their elements; 1 for whole limbs of one bit."""
    grouped: dict[int, list[str]] = {}
    for run in found:
        if run.limb:
            size = 1 if run.limb.width == 1 else run.limb.element
            grouped.setdefault(size, []).append(operands.in_place(run))
    return grouped


def _any(width: int, inputs: Sequence[Bits], operands: VectorOperands) -> Expression:
    found = operands.runs(inputs[0])
    if any(run.limb is None and run.first for run in found):
        return 1
    terms = []
    for size, parts in sorted(_group(found, operands).items()):
        joined = " | ".join(parts)
        terms.append(joined if size == 1 else f"SOME({size}, {joined})")
    return " | ".join(terms) or 0


def _all(width: int, inputs: Sequence[Bits], operands: VectorOperands) -> Expression:
    found = operands.runs(inputs[0])
    if any(run.limb is None and run.first != _ones(run.width) for run in found):
        return 0
    terms = []
    for run in found:
        if run.limb and run.limb.width == 1:
            terms.append(operands.in_place(run))
        elif run.limb:
            mask = _ones(1 if run.repeated else run.width) << run.first
            terms.append(f"EQUAL({run.limb.element}, {operands.in_place(run)}, "
                         f"ALL({run.limb.element}, {literal(mask)}))")
    return " & ".join(terms) or 1


def _odd(width: int, inputs: Sequence[Bits], operands: VectorOperands) -> Expression:
    found = operands.runs(inputs[0])
    constant = sum(run.first.bit_count() for run in found if run.limb is None) & 1
    folded: str | None = None
    grouped = _group((run for run in found if not run.repeated or run.width % 2), operands)
    for size in (64, 32, 16, 8):
        terms = grouped.get(size, [])
        if folded:
            terms = [*terms, f"HALVE({2 * size}, {size}, {folded})"]
        folded = operands.keep(" ^ ".join(terms), size) if terms else None
    terms = [*grouped.get(1, []), *([f"ODD({folded})"] if folded else [])]
    if not terms:
        return constant
    return " ^ ".join([*terms, *(["1"] if constant else [])])


def _sum(sign: str) -> Callable[[int, Sequence[Bits], VectorOperands], Expression]:
    def rule(width: int, inputs: Sequence[Bits], operands: VectorOperands) -> Expression:
        size = _size(width)
        values = [operands.expression(bits, size, clean=False) for bits in inputs]
        first, *others = (value if isinstance(value, str) else _constant(value, size)
                          for value in values)
        return _mask(f" {sign} ".join([first, *others]), width)
    return rule


def _equal(width: int, inputs: Sequence[Bits], operands: VectorOperands) -> Expression:
    first, second = inputs
    size = _size(len(first))
    one, other = (operands.expression(bits, size) for bits in inputs)
    if isinstance(one, int):
        one, other, first, second = other, one, second, first
    if isinstance(one, int):
        return int(one == other)
    if len(first) == 1:
        if isinstance(other, int):
            return one if other else f"{one} ^ 1"
        return f"{one} ^ {other} ^ 1"
    found = operands.runs(first)
    if isinstance(other, int):
        if len(found) == 1 and found[0].limb and not found[0].repeated:
            run, size = found[0], found[0].limb.element
            return (f"EQUAL({size}, {operands.in_place(run)}, "
                    f"ALL({size}, {literal(other << run.first)}))")
        other = _constant(other, size)
    return f"EQUAL({size}, {one}, {other})"


def _less(width: int, inputs: Sequence[Bits], operands: VectorOperands) -> Expression:
    size = _size(len(inputs[0]))
    first, second = (operands.vector(bits, size) for bits in inputs)
    return f"LESS({size}, {first}, {second})"


def _sign(bits: Bits, size: int) -> Bits:
    return [*bits, *bits[-1:] * (size - len(bits))]


def _signed_less(width: int, inputs: Sequence[Bits], operands: VectorOperands) -> Expression:
    size = _size(len(inputs[0]))
    first, second = (operands.vector(_sign(bits, size), size) for bits in inputs)
    return f"SIGNED_LESS({size}, {first}, {second})"


def _shift(macro: str, *, signed: bool = False,
           ) -> Callable[[int, Sequence[Bits], VectorOperands], Expression]:
    def rule(width: int, inputs: Sequence[Bits], operands: VectorOperands) -> Expression:
        bits, amount = inputs
        size = max(32, _size(width))  # few machines shift shorter elements
        while amount and amount[-1] == "0":
            amount = amount[:-1]
        value = operands.vector(_sign(bits, size) if signed else bits, size)
        most = max(len(amount), 1)
        if most > 32:
            raise InputError(f"the simulation shifts by numbers of 32 bits at most, not {most}")
        by = operands.vector(amount, size)
        if _ones(most) >= size:
            macro_name = f"{macro}_FAR"
        else:
            macro_name = macro
        found = f"{macro_name}({size}, {value}, {by})"
        if signed or macro == "LEFT":
            found = f"({found} & {literal(_ones(width))})" if width < size else found
        return found if size == _size(width) else f"TO({_size(width)}, {found})"
    return rule


_RULES: Mapping[str, Callable[[int, Sequence[Bits], VectorOperands], Expression]] = {
    "and": _bitwise("&"), "or": _bitwise("|"), "xor": _bitwise("^"), "not": _not, "mux": _mux,
    "register": _same, "any": _any, "all": _all, "odd": _odd,
    "add": _sum("+"), "sub": _sum("-"), "mul": _sum("*"),
    "equal": _equal, "less": _less, "signed_less": _signed_less,
    "left": _shift("LEFT"), "right": _shift("RIGHT"),
    "signed_right": _shift("SIGNED_RIGHT", signed=True),
}
