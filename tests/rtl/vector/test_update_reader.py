# SPDX-License-Identifier: BSD-2-Clause
"""UpdateReader: state and gradients of all rows, element by element; when state is awaited."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.layouts import AccumulatorPort
from hypercast.rtl.vector.update_reader import UpdateReader
from tests.bench import get, put, run

_CONFIG = PRESETS["tiny"].replace(channel_words=4096, adam=True)
_ADDRESS, _ROW = 40, 3


def _state(rng, rows, kinds, config=_CONFIG):
    """(rows, kinds, lanes) values of 32 bits, and the memory's words of them."""
    values = rng.integers(-1 << 31, 1 << 31, (rows, kinds, config.lanes))
    octets = values.astype("<i4").tobytes()
    size = config.word_width // 8
    return values, [int.from_bytes(octets[at:at + size], "little")
                    for at in range(0, len(octets), size)]


async def _serve_gradients(ctx, dut, gradients, latency=AccumulatorPort.LATENCY):
    delayed = [None] * latency
    while True:
        _, _, enable, buffer, row = await ctx.tick().sample(
            dut.aggregation.enable, dut.aggregation.buffer, dut.aggregation.row)
        delayed = [*delayed[1:], gradients[buffer, row].tolist() if enable else None]
        ctx.set(dut.aggregation.valid, delayed[0] is not None)
        if delayed[0] is not None:
            ctx.set(dut.aggregation.data, delayed[0])


async def _start(ctx, dut, rows, adam, keep=False, kept=False):
    for name, value in {"rows": rows, "address": _ADDRESS, "row": _ROW, "adam": adam,
                        "keep": keep, "kept": kept}.items():
        ctx.set(getattr(dut, name), value)
    ctx.set(dut.start, 1)
    await ctx.tick()
    ctx.set(dut.start, 0)


def _gradients(rng, config=_CONFIG):
    half = 1 << config.accumulator_width - 1
    return rng.integers(-half, half, (2, config.strip_rows, config.lanes))


@pytest.mark.parametrize("adam", [False, True])
@pytest.mark.parametrize("idle, stall, latency", [
    (0.0, 0.0, 2), (0.5, 0.1, 2), (0.1, 0.5, 2), (0.0, 0.0, 12)])
def test_elements(adam, idle, stall, latency):
    rng = np.random.default_rng(3)
    dut = UpdateReader(_CONFIG)
    gradients = _gradients(rng)
    cases = [(rows, rows % 2, *_state(rng, rows, 2 + adam)) for rows in (1, 5, 0, 2)]

    async def check(ctx):
        for rows, buffer, values, _ in cases:
            ctx.set(dut.buffer, buffer)
            await _start(ctx, dut, rows, adam)
            found = await get(ctx, dut.o, rows * _CONFIG.lanes, rng, stall)
            for index, element in enumerate(found):
                row, lane = divmod(index, _CONFIG.lanes)
                *second, master, momentum = values[row, :, lane]
                assert (element.master, element.momentum) == (master, momentum)
                assert element.gradient == gradients[buffer, _ROW + row, lane]
                if adam:
                    moment = element.second_moment
                    assert moment.mantissa | moment.exponent << 26 | moment.zero << 31 == \
                        int(second[0]) & 0xFFFFFFFF
            await ctx.tick().repeat(6)
            assert not ctx.get(dut.o.valid) and not ctx.get(dut.starved)

    async def serve_words(ctx):
        for rows, _, values, words in cases:
            if rows:
                [command] = await get(ctx, dut.source.command, 1, rng, stall)
                assert (command.channel, command.address, command.count) == (
                    1, _ADDRESS, values.size * 32 // _CONFIG.word_width)
                await put(ctx, dut.source.words, words, rng, idle)

    run(dut, check, serve_words, background=[
        lambda ctx: _serve_gradients(ctx, dut, gradients, latency)])


@pytest.mark.parametrize("adam", [False, True])
@pytest.mark.parametrize("config", [
    _CONFIG, PRESETS["test"].replace(element_width=8, channel_words=4096)], ids=["16", "8"])
@pytest.mark.parametrize("idle, stall, latency", [
    (0.0, 0.0, 2), (0.5, 0.1, 2), (0.1, 0.5, 2), (0.0, 0.0, 12)])
def test_sums_that_are_kept(adam, config, idle, stall, latency):
    """Rows of sums go out without state, and come with it; in turn with those that do neither."""
    rng = np.random.default_rng(5)
    dut = UpdateReader(config)
    gradients = _gradients(rng, config)
    cases = []
    for rows, keep, kept in ((3, 1, 0), (4, 0, 1), (0, 1, 0), (0, 0, 1), (2, 0, 0), (1, 0, 1),
                             (2, 1, 0), (1, 0, 0)):
        values, words = _state(rng, rows, 2 + adam + 2 * kept, config)
        cases.append((rows, keep, kept, values, words))
    limit = config.accumulator_width - 32

    async def check(ctx):
        for number, (rows, keep, kept, values, _) in enumerate(cases):
            ctx.set(dut.buffer, number % 2)
            await _start(ctx, dut, rows, adam, keep, kept)
            found = await get(ctx, dut.o, rows * config.lanes, rng, stall)
            for index, element in enumerate(found):
                row, lane = divmod(index, config.lanes)
                expected = gradients[number % 2, _ROW + row, lane]
                if kept:
                    low, high = (int(value) for value in values[row, :2, lane])
                    high = (high + (1 << limit - 1) & (1 << limit) - 1) - (1 << limit - 1)
                    expected = (high << 32) + (low & 0xFFFFFFFF)
                assert element.gradient == expected
                if not keep:
                    assert (element.master, element.momentum) == tuple(values[row, -2:, lane])
            await ctx.tick().repeat(6)
            assert not ctx.get(dut.o.valid) and not ctx.get(dut.starved)

    async def serve_words(ctx):
        for rows, keep, _, values, words in cases:
            if rows and not keep:
                [command] = await get(ctx, dut.source.command, 1, rng, stall)
                assert (command.channel, command.address, command.count) == (
                    1, _ADDRESS, values.size * 32 // config.word_width)
                await put(ctx, dut.source.words, words, rng, idle)

    run(dut, check, serve_words, background=[
        lambda ctx: _serve_gradients(ctx, dut, gradients, latency)])


def test_starved_while_state_alone_is_awaited():
    """Not while gradients are, nor while elements of the row before leave."""
    rng = np.random.default_rng(4)
    dut = UpdateReader(_CONFIG)
    _, words = _state(rng, 2, 2)
    first, second = words[:len(words) // 2], words[len(words) // 2:]

    async def check(ctx):
        assert not ctx.get(dut.starved)
        await _start(ctx, dut, 2, 0)
        assert not ctx.get(dut.starved)
        await ctx.tick().repeat(AccumulatorPort.LATENCY + 2)
        for _ in range(5):
            assert ctx.get(dut.starved)
            await ctx.tick()
        await put(ctx, dut.source.words, first)
        while not ctx.get(dut.o.valid):
            await ctx.tick()
        for _ in range(10):  # nothing leaves
            assert not ctx.get(dut.starved)
            await ctx.tick()
        await get(ctx, dut.o, _CONFIG.lanes)
        for _ in range(5):
            assert ctx.get(dut.starved)
            await ctx.tick()
        await put(ctx, dut.source.words, second)
        starved = 0
        for _ in range(4):
            starved += ctx.get(dut.starved)
            await ctx.tick()
        assert ctx.get(dut.o.valid) and starved == 0

    run(dut, check, background=[lambda ctx: _serve_gradients(ctx, dut, _gradients(rng))])
