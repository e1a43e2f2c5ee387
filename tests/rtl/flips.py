# SPDX-License-Identifier: BSD-2-Clause
"""Changes bits in the memories of a block while it is simulated."""

import pytest
from amaranth.hdl import Value

from hypercast.rtl.lib.parity_memory import ParityMemory
from tests.bench import run

__all__ = ["check_tables", "count_cycles", "flip", "parity_memories"]


@pytest.fixture
def parity_memories(monkeypatch):
    """Every ``ParityMemory`` of the block under test, in a list, once it is simulated."""
    found = []
    elaborate = ParityMemory.elaborate

    def remember(memory, platform):
        found.append(memory)
        return elaborate(memory, platform)

    monkeypatch.setattr(ParityMemory, "elaborate", remember)
    return found


def flip(ctx, memory, address, bit=0):
    """Change one bit of a word."""
    word = Value.cast(memory.contents[address])
    ctx.set(word, ctx.get(word) ^ 1 << bit)


def count_cycles(signal, counted):
    """A background testbench that appends to ``counted`` in every cycle with ``signal``."""
    async def watch(ctx):
        while True:
            _, _, high = await ctx.tick().sample(signal)
            if high:
                counted.append(True)
    return watch


def check_tables(dut, memories, count):
    """Check that ``dut.fault`` is high while one of its ``count`` tables has changed, wherever it
    is read.
    """
    async def bench(ctx):
        await ctx.tick().repeat(8)
        assert len(memories) == count
        for memory in memories:
            for high in (1, 0):
                for address in range(memory.contents.depth):
                    flip(ctx, memory, address, bit=5)
                await ctx.tick().repeat(8)
                assert ctx.get(dut.fault) == high

    run(dut, bench)
