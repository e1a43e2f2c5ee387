# SPDX-License-Identifier: BSD-2-Clause
"""Interpolation: every argument of rising and falling tables."""

import pytest
from amaranth.hdl import Value

from hypercast.reference import arithmetic
from hypercast.rtl.vector.interpolation import Interpolation
from tests.bench import run
from tests.rtl.flips import check_tables, flip, parity_memories  # noqa: F401


async def _values(ctx, dut, arguments):
    found = []
    for argument in (*arguments, *[0] * dut.LATENCY):
        ctx.set(dut.i, int(argument))
        _, _, value = await ctx.tick().sample(dut.o)
        found.append(value)
    return found[dut.LATENCY:]


def _expected(table, arguments, rest_bits):
    """Between two entries, the distance from the first one floored."""
    for argument in arguments:
        index, rest = divmod(int(argument), 1 << rest_bits)
        value, following = table[index], table[min(index + 1, 64)]
        distance = abs(following - value) * rest >> rest_bits
        yield value + distance if following > value else value - distance


@pytest.mark.parametrize("table, rest_bits", [
    (arithmetic.EXP_TABLE, 6), (range(65), 2), ([9] * 65, 1), ([5] * 40 + [3] * 25, 3)])
def test_every_argument(table, rest_bits):
    dut = Interpolation(table, rest_bits)
    arguments = range((64 << rest_bits) + 1)

    async def bench(ctx):
        assert await _values(ctx, dut, arguments) == list(
            _expected(list(table), arguments, rest_bits))

    run(dut, bench)


@pytest.mark.parametrize("table, message", [
    (range(64), "table must have 65 values, not 64"),
    ([0, 2, 1] + [1] * 62, "must not both rise and fall"),
])
def test_refusals(table, message):
    with pytest.raises(ValueError, match=message):
        Interpolation(table, 4)


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert Interpolation.LATENCY == 3


def test_a_changed_table_is_reported(parity_memories):  # noqa: F811
    check_tables(Interpolation(arithmetic.EXP_TABLE, 6), parity_memories, 1)


def test_every_flipped_bit_is_found(parity_memories):  # noqa: F811
    """Where it is, and nowhere else."""
    dut = Interpolation(arithmetic.EXP_TABLE, 6)

    async def bench(ctx):
        [memory] = parity_memories
        for entry in (0, 17, 63):
            for bit in range(Value.cast(memory.contents[entry]).shape().width):
                flip(ctx, memory, entry, bit)
                for index in range(64):
                    ctx.set(dut.i, index << 6 | 5)
                    await ctx.tick()
                    assert ctx.get(dut.fault) == (index == entry)
                flip(ctx, memory, entry, bit)

    run(dut, bench)
