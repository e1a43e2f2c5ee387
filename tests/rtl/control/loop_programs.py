# SPDX-License-Identifier: BSD-2-Clause
"""Programs of random words and loops."""

from hypercast.rtl.isa import HEADER, INSTRUCTION_WIDTH, LAG_WIDTH, OPERANDS, Opcode, encode
from hypercast.rtl.loop import encode_strides

__all__ = ["random_pair", "random_program"]

_WORK = [opcode for opcode in Opcode if opcode not in (Opcode.HALT, Opcode.LOOP)]


def _random_word(rng, bits):
    return int.from_bytes(rng.bytes(bits // 8), "little")


def random_pair(rng, strips, lags):
    """An instruction and its strides, of any values that stay within their fields."""
    opcode = _WORK[rng.integers(len(_WORK))]
    fields = {name: int(rng.integers(1 << width)) for name, width in HEADER[1:]}
    strides = {}
    for name, width in OPERANDS[opcode]:
        if width < 0:
            fields[name] = int(rng.integers(-(1 << -width - 1), 1 << -width - 1))
            continue
        most = (1 << width) - 1
        strides[name] = int(rng.integers(most // max(1, strips - 1) + 1)) if rng.random() < 0.7 \
            else 0
        if name == OPERANDS[opcode][-1][0] == "buffer":
            strides[name] = int(rng.integers(2))
            fields[name] = int(rng.integers(2))
        else:
            fields[name] = int(rng.integers(most - strides[name] * (strips - 1) + 1))
    return [encode(opcode, **fields),
            encode_strides(opcode, lag=int(rng.integers(lags + 1)), **strides)]


def _random_loop(rng):
    strips, length = int(rng.choice([1, 2, 3, 7, 20])), int(rng.integers(1, 6))
    lags = int(rng.integers(1 << LAG_WIDTH))
    return [encode(Opcode.LOOP, strips=strips, length=length, lags=lags),
            *(word for _ in range(length) for word in random_pair(rng, strips, lags))]


def random_program(rng):
    """Rows of a program: 25 at least, and 35 at most."""
    program = []
    while len(program) < 25:
        if rng.random() < 0.3:
            program += _random_loop(rng)
        else:
            program.append(_random_word(rng, INSTRUCTION_WIDTH) & ~0xF
                           | int(rng.choice([*_WORK, Opcode.HALT, 9, 15])))
    return program
