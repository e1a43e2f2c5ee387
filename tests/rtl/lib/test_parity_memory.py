# SPDX-License-Identifier: BSD-2-Clause
"""ParityMemory: words come back, and every flipped bit is found."""

import numpy as np
import pytest
from amaranth.hdl import Value

from hypercast.rtl.lib.parity_memory import ParityMemory
from tests.bench import run

DEPTH = 16
#: Width of a piece, pieces, read ports and domain.
SHAPES = {"one piece": (13, 1, 1, "sync"), "three pieces": (5, 3, 1, "sync"),
          "in the same cycle": (9, 1, 2, "comb")}


@pytest.fixture(params=SHAPES.values(), ids=SHAPES.keys())
def memory(request):
    width, pieces, reads, domain = request.param
    return ParityMemory(width, DEPTH, pieces=pieces, reads=reads, domain=domain), *request.param


async def write(ctx, dut, address, word, pieces):
    ctx.set(dut.write.addr, address)
    ctx.set(dut.write.data, word)
    ctx.set(dut.write.en, pieces)
    await ctx.tick()
    ctx.set(dut.write.en, 0)


async def read(ctx, dut, address, domain):
    """The word and whether it is wrong, at each port."""
    for port in dut.reads:
        ctx.set(port.addr, address)
        if domain == "sync":
            ctx.set(port.en, 1)
    if domain == "sync":
        await ctx.tick()
    return {(ctx.get(port.data), ctx.get(port.fault)) for port in dut.reads}


def test_words_come_back(memory):
    """Pieces that are not written stay; what was never written is zero, and no fault."""
    dut, width, pieces, _, domain = memory
    rng = np.random.default_rng(0)
    expected = [0] * DEPTH

    async def bench(ctx):
        for _ in range(200):
            address, word = int(rng.integers(DEPTH)), int(rng.integers(1 << width * pieces))
            enabled = int(rng.integers(1 << pieces))
            await write(ctx, dut, address, word, enabled)
            mask = sum((1 << width) - 1 << width * piece for piece in range(pieces)
                       if enabled >> piece & 1)
            expected[address] = expected[address] & ~mask | word & mask
            address = int(rng.integers(DEPTH))
            assert await read(ctx, dut, address, domain) == {(expected[address], 0)}

    run(dut, bench)


def test_every_flipped_bit_is_found(memory):
    """Flips in a word or its parities are found until it is written again; others have no fault."""
    dut, width, pieces, _, domain = memory
    rng = np.random.default_rng(1)
    word = int(rng.integers(1 << width * pieces))

    async def bench(ctx):
        for bit in range((width + 1) * pieces):
            await write(ctx, dut, 3, word, (1 << pieces) - 1)
            stored = Value.cast(dut.contents[3])
            ctx.set(stored, ctx.get(stored) ^ 1 << bit)
            if domain == "sync":
                assert await read(ctx, dut, 4, domain) == {(0, 0)}
            [(_, fault)] = await read(ctx, dut, 3, domain)
            assert fault, f"bit {bit}"
        await write(ctx, dut, 3, word, (1 << pieces) - 1)
        assert await read(ctx, dut, 3, domain) == {(word, 0)}

    run(dut, bench)


def test_words_stay_without_enable():
    dut = ParityMemory(8, DEPTH)

    async def bench(ctx):
        await write(ctx, dut, 1, 77, 1)
        await read(ctx, dut, 1, "sync")
        ctx.set(dut.reads[0].en, 0)
        ctx.set(dut.reads[0].addr, 2)
        await ctx.tick()
        assert ctx.get(dut.reads[0].data) == 77

    run(dut, bench)


@pytest.mark.parametrize("pieces", [1, 3])
def test_a_table_has_its_words_and_no_way_to_write(pieces):
    """All of them right, until a bit flips."""
    rng = np.random.default_rng(2)
    words = [int(rng.integers(1 << 7 * pieces)) for _ in range(DEPTH - 2)]
    dut = ParityMemory(7, DEPTH, pieces=pieces, init=words)
    assert "write" not in dut.signature.members

    async def bench(ctx):
        for address, word in enumerate([*words, 0, 0]):
            assert await read(ctx, dut, address, "sync") == {(word, 0)}
            stored = Value.cast(dut.contents[address])
            ctx.set(stored, ctx.get(stored) ^ 1 << int(rng.integers(8 * pieces)))
            [(_, fault)] = await read(ctx, dut, address, "sync")
            assert fault

    run(dut, bench)
