# SPDX-License-Identifier: BSD-2-Clause
"""Operands as C++: what it computes, element by element, is the number that the bits are."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.sim.limbs import Limb
from hypercast.sim.vector_code import VectorOperands

#: Widths of the limbs that operands are made of; bits have numbers from 0 on.
WIDTHS = (3, 8, 16, 17, 32, 40, 64)
LIMBS = [Limb(number, None, 0, width) for number, width in enumerate(WIDTHS)]
PLACES = dict(enumerate((limb, place) for limb in LIMBS for place in range(limb.width)))
FIRST = {limb.number: sum(WIDTHS[:limb.number]) for limb in LIMBS}


def ones(width):
    return (1 << width) - 1


def signed(size, value):
    return (value & ones(size)) - ((value >> size - 1 & 1) << size)


def computed(text, values):
    """An element of C++ whose limbs have some values; above its size, anything may be."""
    names = {f"limb{number}": value for number, value in enumerate(values)}
    return eval(re.sub(r"\b(\d\w*)ull\b", r"\1", text), names | {
        "TO": lambda size, value: value & ones(size),
        "ALL": lambda size, value: value,
        "SHIFT": lambda size, value, right: signed(size, value) >> right & ones(size),
        "EXTEND": lambda size, own, value: signed(own, value) & ones(size)})


@st.composite
def operands(draw):
    """Bits of slices, single bits again and again, signs above slices, and constants."""
    bits = []
    for _ in range(draw(st.integers(1, 3))):
        limb = draw(st.sampled_from(LIMBS))
        first = draw(st.integers(0, limb.width - 1))
        width = draw(st.integers(1, limb.width - first))
        found = [FIRST[limb.number] + first + index for index in range(width)]
        again = draw(st.integers(0, 12))
        kind = draw(st.sampled_from(["slice", "sign", "other", "repeated", "constant"]))
        if kind == "sign":
            found += found[-1:] * again
        elif kind == "other":  # a bit of the same limb, which may be next to the slice
            found += [FIRST[limb.number] + draw(st.integers(0, limb.width - 1))] * again
        elif kind == "repeated":
            found = found[:1] * (again + 1)
        elif kind == "constant":
            found = draw(st.lists(st.sampled_from("01"), min_size=1, max_size=12))
        bits += found
    return bits[:64]


@settings(max_examples=300)
@given(operands(), st.sampled_from([8, 16, 32, 64]), st.booleans(),
       st.tuples(*(st.integers(0, ones(width)) for width in WIDTHS)))
def test_an_operand_is_its_bits(bits, size, clean, values):
    bits = bits[:size]
    expected = sum((int(bit) if isinstance(bit, str) else
                    values[PLACES[bit][0].number] >> PLACES[bit][1] & 1) << index
                   for index, bit in enumerate(bits))
    found = VectorOperands(PLACES, lambda limb: f"limb{limb.number}", lambda text, _: text)
    mask = ones(size if clean else len(bits))
    text = found.expression(bits, size, clean=clean)
    assert (text if isinstance(text, int) else computed(text, values)) & mask == expected
    assert computed(found.vector(bits, size), values) & ones(size) == expected


def test_constants_are_numbers_and_a_sign_above_its_slice_is_one_shift():
    found = VectorOperands(PLACES, lambda limb: f"limb{limb.number}", lambda text, _: text)
    assert [found.expression(bits, 8) for bits in ("000", "101")] == [0, 5]
    slice_, first = [FIRST[3] + place for place in range(4, 9)], FIRST[3]
    assert "SHIFT(" in found.expression([*slice_, *[slice_[-1]] * 3], 16)
    assert "SHIFT(" not in found.expression([*slice_, *[first] * 3], 16)
    assert "EXTEND(64, 16, limb2)" in found.expression(
        [*range(FIRST[2], FIRST[2] + 16), *[FIRST[2] + 15] * 9], 64)
