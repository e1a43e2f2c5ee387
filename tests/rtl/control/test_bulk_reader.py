# SPDX-License-Identifier: BSD-2-Clause
"""BulkReader: asks for what it has room for, in runs; refuses what is not there."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.bulk_reader import BulkReader
from hypercast.rtl.layouts import bulk_width
from hypercast.rtl.limits import BURST
from hypercast.rtl.registers import Space, bulk_address, striped_address
from tests.bench import run, shared
from tests.rtl.control.bulk_manager import BulkManager

_OKAY, _SLVERR = 0, 2


def _run(preset, bursts, *, delay=0.3, background=()):
    """What bursts (address, beats) bring, and the words of each request; a part counts as 0."""
    config = PRESETS[preset]
    dut = shared(BulkReader, config)
    width = bulk_width(config)
    rng = np.random.default_rng(0)
    manager = BulkManager(None, dut.axi, rng, delay)
    queue, asked, found = [], [], []

    async def answer(ctx):
        """What is at an address is its number, of 32-bit pieces."""
        request = dut.request
        while True:
            ready = rng.random() >= delay
            ctx.set(request.ready, ready)
            answers = bool(queue) and rng.random() >= delay
            ctx.set(dut.response_valid, answers)
            if answers:
                first = queue.pop(0)
                ctx.set(dut.response, sum(
                    first + piece << 32 * piece for piece in range(width // 32)))
            _, _, valid, payload = await ctx.tick().sample(request.valid, request.payload)
            if valid and ready:
                assert payload.bulk and not payload.write
                asked.append(payload.data)
                count = payload.data * (config.word_width // width) or 1
                queue.extend(payload.address + word * width // 32 for word in range(count))
                assert len(queue) <= 256 * (128 // width)

    async def program(ctx):
        for address, beats in bursts:
            manager.start_read(address, beats)
        for _ in bursts:
            found.append(await manager.finish_read(ctx))

    run(dut, program, background=[*manager.drivers, answer, *(
        lambda ctx, one=one: one(ctx, dut) for one in background)])
    return asked, found


@pytest.mark.parametrize("preset", ["tiny", "kv260", "cora"])
def test_beats_in_order(preset):
    asked, found = _run(preset, [
        (bulk_address(0, Space.FEATURES, 16 * 3), 30), (bulk_address(0, Space.FEATURES, 0), 256),
        (bulk_address(1, Space.WEIGHTS, 16), 7), (bulk_address(2, Space.FEATURES, 0), 0 + 1),
        (bulk_address(0, Space.GRADIENTS, 16), 1)])
    for (first, beats), (responses, values) in zip(
            ((3, 30), (0, 256), (1, 7), (0, 1), (1, 1)), found, strict=True):
        there = PRESETS[preset].cores > 2 or (first, beats) != (0, 1)
        assert responses == [_OKAY if there else _SLVERR] * beats
        if there:
            assert np.frombuffer(values, "<u4").tolist() == list(
                range(4 * first, 4 * (first + beats)))
    assert max(asked) == BURST


def test_striped_bursts_are_refused():
    asked, found = _run("kv260", [
        (striped_address(Space.FEATURES, 64), 3), (bulk_address(1, Space.GRADIENTS, 64), 2),
        (striped_address(Space.GRADIENTS, 0), 1)])
    assert [responses for responses, _ in found] == [[_SLVERR] * 3, [_OKAY] * 2, [_SLVERR]]
    assert sum(asked) == 2


def test_holds():
    """What was asked for comes; nothing more is asked for."""
    async def hold(ctx, dut):
        while True:
            ctx.set(dut.hold, 1)
            for _ in range(3):
                await ctx.tick()
            while not ctx.get(dut.quiet):
                await ctx.tick()
            for _ in range(20):
                assert ctx.get(dut.quiet)
                await ctx.tick()
            ctx.set(dut.hold, 0)
            for _ in range(20):
                await ctx.tick()

    _, [(responses, values)] = _run(
        "cora", [(bulk_address(0, Space.FEATURES, 0), 128)], background=[hold])
    assert responses == [_OKAY] * 128
    assert np.frombuffer(values, "<u4").tolist() == list(range(512))


@pytest.mark.parametrize("cycles", [1, 5])
def test_bursts_that_are_aborted_end_with_errors(cycles):
    """All of them, whether all of their words were asked for or not."""
    dut = shared(BulkReader, PRESETS["cora"])
    manager = BulkManager(None, dut.axi, np.random.default_rng(cycles), 0.3)

    async def program(ctx):
        ctx.set(dut.request.ready, 1)
        for beats in (4, 200):
            manager.start_read(bulk_address(0, Space.FEATURES, 0), beats)
        await ctx.tick().repeat(60)
        assert not manager.read
        ctx.set(dut.abort, 1)
        await ctx.tick().repeat(cycles)
        ctx.set(dut.abort, 0)
        for beats in (4, 200):
            assert (await manager.finish_read(ctx))[0] == [_SLVERR] * beats

    run(dut, program, background=manager.drivers, cycles=2000)
