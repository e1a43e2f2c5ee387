# SPDX-License-Identifier: BSD-2-Clause
"""Loops, unrolled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.rtl.isa import Opcode, decode, encode
from hypercast.rtl.loop import encode_strides, unroll


def test_lags_pass_over_strips():
    """An instruction that lags works on the strip before, and on the last one by itself."""
    program = [encode(Opcode.LOOP, strips=3, length=2, lags=1)]
    for lag in (0, 1):
        program += [encode(Opcode.MATMUL, address=100 * lag, buffer=lag),
                    encode_strides(Opcode.MATMUL, lag=lag, address=7, buffer=1)]
    program.append(encode(Opcode.HALT))
    matmuls = [encode(Opcode.MATMUL, address=100 * lag + 7 * strip, buffer=lag + strip & 1)
               for lag, strip in ((0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (1, 2))]
    # What is above the last operand means nothing.
    assert [decode(one.word) for one in unroll(program)] == [
        *map(decode, matmuls), decode(encode(Opcode.HALT))]
    assert [one.first for one in unroll(program)] == [1, 0, 1, 0, 0, 0, 1]
    assert [one.looped for one in unroll(program)] == [1] * 6 + [0]


@given(st.integers(1, 4095), st.integers(0, 7), st.integers(0, 4000), st.integers(0, 4096))
def test_fields_do_not_carry_into_each_other(strips, lag, address, stride):
    """The last strip's fields are those of the first one plus strides; only a buffer wraps."""
    program = [encode(Opcode.LOOP, strips=strips, length=1, lags=7),
               encode(Opcode.DRAIN, address=address, row_start=7, vertices=1, buffer=1),
               encode_strides(Opcode.DRAIN, lag=lag, address=stride, row_start=250, buffer=1)]
    found = list(unroll(program))
    assert [one.first for one in found] == [True] + [False] * (strips - 1)
    assert decode(found[-1].word) == decode(encode(
        Opcode.DRAIN, address=address + (strips - 1) * stride, vertices=1,
        row_start=7 + 250 * (strips - 1), buffer=strips % 2))


def test_a_part_of_a_program():
    program = [encode(Opcode.MATMUL), encode(Opcode.LOOP, strips=2, length=1),
               encode(Opcode.LOSS), encode_strides(Opcode.LOSS), encode(Opcode.HALT)]
    assert [row for row, *_ in unroll(program)] == [0, 2, 2, 4]
    assert [row for row, *_ in unroll(program, 1)] == [2, 2, 4]
    assert [row for row, *_ in unroll(program, 0, 4)] == [0, 2, 2]


@pytest.mark.parametrize(("strides", "error"), [
    ({"lag": 8}, "lag must be 0 to 7, not 8"),
    ({"address": -1}, "MATMUL field address must have a stride of 0 to 16777215, not -1"),
    ({"buffer": 2}, "MATMUL field buffer must have a stride of 0 to 1, not 2"),
    ({"mask_address": 1}, "MATMUL has no field mask_address")])
def test_refuses_other_strides(strides, error):
    with pytest.raises(ValueError, match=f"^{error}$"):
        encode_strides(Opcode.MATMUL, **strides)
