# SPDX-License-Identifier: BSD-2-Clause
"""Instructions fetched in order, loops unrolled, against ``rtl.loop`` in Python."""

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.instruction_fetch import InstructionFetch
from hypercast.rtl.isa import INSTRUCTION_WIDTH, Opcode, encode
from hypercast.rtl.limits import LOOP_CYCLES
from hypercast.rtl.loop import encode_strides, unroll
from tests.bench import run
from tests.rtl.control.loop_programs import random_pair, random_program

_CONFIG = PRESETS["tiny"].replace(program_rows=64)


class _Fetch(wiring.Component):
    """The block with a program in its memory; an instruction is taken when ``want`` is high."""

    def __init__(self, program, faulty=()):
        self.fetch = InstructionFetch(_CONFIG)
        self._words = [word | (row in faulty) << INSTRUCTION_WIDTH
                       for row, word in enumerate(program)]
        super().__init__({"want": In(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.fetch = fetch = self.fetch
        m.submodules.memory = memory = Memory(
            shape=INSTRUCTION_WIDTH + 1, depth=_CONFIG.program_rows, init=self._words)
        read = memory.read_port()
        m.d.comb += [
            read.addr.eq(fetch.memory_row), fetch.take.eq(self.want & fetch.ready),
            fetch.memory_instruction.eq(read.data[:INSTRUCTION_WIDTH]),
            fetch.memory_fault.eq(read.data[INSTRUCTION_WIDTH]),
        ]
        return m

    async def begin(self, ctx, entry=0):
        ctx.set(self.fetch.start, 1)
        ctx.set(self.fetch.entry, entry)
        await ctx.tick()
        ctx.set(self.fetch.start, 0)

    async def take(self, ctx, chance=1.0, rng=None):
        """Row, instruction, first and fault, taken in some cycle; and how many cycles it took."""
        fetch = self.fetch
        for cycle in range(1, 1000):
            ctx.set(self.want, int(rng is None or rng.random() < chance))
            _, _, took, *found = await ctx.tick().sample(
                fetch.take, fetch.row, fetch.instruction, fetch.first, fetch.fault)
            if took:
                ctx.set(self.want, 0)
                return tuple(found), cycle
        return pytest.fail("no instruction is ready")


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    """Begun anew at any time, in a loop, too."""
    rng = np.random.default_rng(seed)
    program = random_program(rng)
    dut = _Fetch(program)
    expected = [(row, word, first, 0) for row, word, first, _ in unroll(program)]

    async def bench(ctx):
        for count in (*rng.integers(1, 60, size=3), len(expected)):
            await dut.begin(ctx)
            for wanted in expected[:count]:
                assert (await dut.take(ctx, rng.choice([0.05, 0.5, 1.0]), rng))[0] == wanted

    run(dut, bench, cycles=500_000)


@pytest.mark.parametrize("row", range(4))
def test_faults(row):
    """A row that changed is told with the first instruction that needs it."""
    rng = np.random.default_rng(row)
    program = [encode(Opcode.MATMUL), encode(Opcode.LOOP, strips=2, length=1),
               *random_pair(rng, 2, 0), encode(Opcode.HALT)]
    dut = _Fetch(program, [row])

    async def bench(ctx):
        await dut.begin(ctx)
        for before in range(row if row < 2 else 1):
            (at, *_, fault), _ = await dut.take(ctx)
            assert at == before and not fault
        (at, *_, fault), _ = await dut.take(ctx)
        assert at == min(row, 2) and fault

    run(dut, bench, cycles=1000)


@pytest.mark.parametrize(("loop", "words"), [
    ({"strips": 0, "length": 1}, 0), ({"strips": 0, "length": 1, "lags": 3}, 0),
    ({"strips": 1, "length": 0}, 1)])
def test_empty_loops_end(loop, words):
    """No program has them; they do not hang. A body has one instruction at least."""
    dut = _Fetch([encode(Opcode.LOOP, **loop), encode(Opcode.MATMUL), 0, encode(Opcode.HALT)])

    async def bench(ctx):
        await dut.begin(ctx)
        rows = [(await dut.take(ctx))[0][0] for _ in range(words + 1)]
        assert rows == [1] * words + [3]

    run(dut, bench, cycles=1000)


def test_pace():
    """Cycles from taking an instruction until the next one is ready."""
    dut = _Fetch([encode(Opcode.MATMUL), encode(Opcode.MATMUL),
                  encode(Opcode.LOOP, strips=3, length=1), encode(Opcode.MATMUL),
                  encode_strides(Opcode.MATMUL, address=5), encode(Opcode.HALT)])

    async def bench(ctx):
        await dut.begin(ctx)
        paces = [(await dut.take(ctx))[1] for _ in range(6)]
        assert paces == [2, 2, LOOP_CYCLES + 2, LOOP_CYCLES, LOOP_CYCLES, 2]

    run(dut, bench, cycles=1000)
