# SPDX-License-Identifier: BSD-2-Clause
"""ExponentUnit against the rules in Python."""

import numpy as np
import pytest

from hypercast.rtl import isa
from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.exponent_unit import ExponentUnit
from hypercast.rtl.isa import Opcode
from hypercast.rtl.registers import Error, Space
from tests.bench import run
from tests.rtl.control.exponent_model import ExponentModel, random_fields
from tests.rtl.flips import count_cycles, flip, parity_memories  # noqa: F401

_OPCODES = (Opcode.DRAIN, Opcode.LOSS, Opcode.UPDATE)
_TENSORS = 8


async def access(ctx, dut, address, write=None):
    """A window access; the answer must come two cycles later."""
    ctx.set(dut.request, {"space": Space.TENSORS, "address": address,
                          "write": write is not None, "data": write or 0})
    ctx.set(dut.request_valid, 1)
    await ctx.tick()
    ctx.set(dut.request_valid, 0)
    await ctx.tick()
    assert ctx.get(dut.response_valid)
    return ctx.get(dut.response)


@pytest.mark.parametrize(("element_width", "low", "high", "seed"), [
    (16, -28, 31, 0), (16, -128, 127, 1), (8, -28, 10, 2), (8, -128, 127, 3)])
def test_random_instructions(element_width, low, high, seed):
    config = PRESETS["tiny"].replace(element_width=element_width, tensors=_TENSORS)
    rng = np.random.default_rng(seed)
    dut = ExponentUnit(config)
    model = ExponentModel(config)
    outcomes = set()

    async def execute(ctx, opcode, fields, bits):
        ctx.set(dut.instruction, isa.encode(opcode, **fields))
        ctx.set(dut.first, 1)
        ctx.set(dut.prepare, 1)
        await ctx.tick()
        ctx.set(dut.prepare, 0)
        for _ in range(7):
            assert not ctx.get(dut.ready)
            await ctx.tick()
        assert ctx.get(dut.ready)
        expected = model.choose(opcode, fields)
        error = ((Error.EXPONENT if ctx.get(dut.exponent_error) else 0)
                 | (Error.ALIGNMENT if ctx.get(dut.alignment_error) else 0))
        assert error == expected.error
        outcomes.add((opcode, expected.error))
        if error:
            return
        assert ctx.get(dut.shift) == expected.shift
        if expected.aux_shift is not None:
            assert ctx.get(dut.aux_shift) == expected.aux_shift
        ctx.set(dut.commit, 1)
        await ctx.tick()
        ctx.set(dut.commit, 0)
        ctx.set(dut.vector_busy, 1)
        ctx.set(dut.peak, int(rng.integers(64)))  # means nothing yet
        for _ in range(rng.integers(8)):
            await ctx.tick()
            assert ctx.get(dut.pending)
        ctx.set(dut.peak, bits)
        ctx.set(dut.vector_busy, 0)
        await ctx.tick()
        await ctx.tick()
        assert not ctx.get(dut.pending)
        model.complete(fields, expected, bits)

    async def bench(ctx):
        for _ in range(25):
            model.randomize(rng, low, high)
            for tensor in range(_TENSORS):
                await access(ctx, dut, tensor, model.word(tensor))
            for _ in range(12):
                opcode = _OPCODES[rng.integers(3)]
                await execute(ctx, opcode, random_fields(rng, opcode, _TENSORS),
                              int(rng.integers(49)) if rng.random() < 0.8 else 0)
            for tensor in range(_TENSORS):
                assert model.describes(tensor, await access(ctx, dut, tensor))
        for opcode in _OPCODES:
            assert (opcode, Error(0)) in outcomes and (opcode, Error.EXPONENT) in outcomes
        assert (Opcode.UPDATE, Error.ALIGNMENT) in outcomes

    run(dut, bench)


def test_result_waits_for_the_fold():
    """A DRAIN prepared while the last one is at work sees the latter's peak."""
    config = PRESETS["tiny"]
    dut = ExponentUnit(config)

    async def bench(ctx):
        ctx.set(dut.instruction, isa.encode(Opcode.DRAIN, o=3, peak_of=3, open=1))
        ctx.set(dut.first, 1)
        ctx.set(dut.prepare, 1)
        await ctx.tick()
        ctx.set(dut.prepare, 0)
        await ctx.tick().repeat(7)
        assert ctx.get(dut.ready) and ctx.get(dut.shift) == 0
        ctx.set(dut.commit, 1)
        ctx.set(dut.prepare, 1)
        ctx.set(dut.vector_busy, 1)
        await ctx.tick()
        ctx.set(dut.commit, 0)
        ctx.set(dut.prepare, 0)
        for _ in range(20):
            await ctx.tick()
            assert not ctx.get(dut.ready)
        ctx.set(dut.peak, 20)
        ctx.set(dut.vector_busy, 0)
        await ctx.tick().repeat(7)
        assert ctx.get(dut.ready) and ctx.get(dut.shift) == 20 - 15

    run(dut, bench, cycles=100)


def test_a_changed_entry_is_reported(parity_memories):  # noqa: F811
    """When an instruction names it."""
    dut = ExponentUnit(PRESETS["tiny"])
    faults = []

    async def prepare(ctx):
        ctx.set(dut.instruction, isa.encode(Opcode.DRAIN, a=1, b=2, o=3, peak_of=3))
        ctx.set(dut.prepare, 1)
        await ctx.tick()
        ctx.set(dut.prepare, 0)
        await ctx.tick().repeat(9)

    async def bench(ctx):
        [memory] = parity_memories
        await prepare(ctx)
        assert not faults
        flip(ctx, memory, 2, 4)
        await prepare(ctx)
        assert faults

    run(dut, bench, background=[count_cycles(dut.fault, faults)], cycles=100)
