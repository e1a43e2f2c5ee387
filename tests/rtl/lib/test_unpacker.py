# SPDX-License-Identifier: BSD-2-Clause
"""Unpacker: records cut from words and joined from words, lists that end mid-word, rates."""

import numpy as np
import pytest

from hypercast.rtl.lib.unpacker import Unpacker
from tests.bench import get, put, run

WIDTHS = [(32, 4), (32, 16), (256, 16), (256, 32), (64, 64), (32, 32), (32, 64), (32, 128)]


def _lists(rng, word_width, record_width, lengths):
    """Lists of random records, and all of them as memory words."""
    lists = []
    words = []
    for length in lengths:
        records = [int.from_bytes(rng.bytes(record_width // 8 + 1), "little") % 2**record_width
                   for _ in range(length)]
        packed = sum(record << index * record_width for index, record in enumerate(records))
        count = -(-length * record_width // word_width)
        words += [(packed >> index * word_width) % 2**word_width for index in range(count)]
        lists.append(records)
    return lists, words


@pytest.mark.grid
@pytest.mark.parametrize(("word_width", "record_width"), WIDTHS)
@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.0, 0.5), (0.6, 0.0), (0.4, 0.3)])
def test_lists_with_flush(word_width, record_width, idle, stall):
    """``flush`` comes with a list's last record, or a few cycles later; words may run ahead."""
    rng = np.random.default_rng(word_width + record_width)
    lists, words = _lists(rng, word_width, record_width, rng.integers(1, 40, size=25))
    dut = Unpacker(word_width, record_width)

    async def receiver(ctx):
        for records in lists:
            at_once = rng.random() < 0.5
            assert await get(ctx, dut.o, len(records) - 1, rng, stall) == records[:-1]
            while True:
                ready = rng.random() >= stall
                ctx.set(dut.o.ready, ready)
                # Let a flush come with the transfer only.
                ctx.set(dut.flush, at_once and ready and ctx.get(dut.o.valid))
                _, _, valid, payload = await ctx.tick().sample(dut.o.valid, dut.o.payload)
                if valid and ready:
                    break
            assert payload == records[-1]
            ctx.set(dut.o.ready, 0)
            ctx.set(dut.flush, 0)
            if not at_once:
                while rng.random() < 0.5:
                    await ctx.tick()
                ctx.set(dut.flush, 1)
                await ctx.tick()
                ctx.set(dut.flush, 0)

    run(dut, lambda ctx: put(ctx, dut.i, words, rng, idle), receiver, cycles=20_000)


@pytest.mark.parametrize(("word_width", "record_width"), WIDTHS)
def test_rate(word_width, record_width):
    rng = np.random.default_rng(0)
    (records,), words = _lists(rng, word_width, record_width, [64])
    dut = Unpacker(word_width, record_width)
    received = []

    async def receiver(ctx):
        received.extend(await get(ctx, dut.o, len(records)))

    run(dut, lambda ctx: put(ctx, dut.i, words), receiver,
        cycles=max(len(records), len(words)) + 3)
    assert received == records


@pytest.mark.parametrize(("word_width", "record_width"), [(32, 12), (48, 32), (0, 8), (32, 0)])
def test_widths_that_do_not_fit_are_refused(word_width, record_width):
    with pytest.raises(ValueError, match=str(word_width)):
        Unpacker(word_width, record_width)


@pytest.mark.parametrize(("word_width", "record_width"), WIDTHS)
def test_nothing_waits_for_the_receiver(word_width, record_width):
    """A receiver that waits for a record before it is ready gets one."""
    dut = Unpacker(word_width, record_width)
    words = max(record_width // word_width, 1)

    async def bench(ctx):
        ctx.set(dut.i.valid, 1)
        for number in range(words):
            ctx.set(dut.i.payload, number + 1)
            assert ctx.get(dut.i.ready) and not ctx.get(dut.o.valid)
            await ctx.tick()
        assert ctx.get(dut.o.valid) and not ctx.get(dut.i.ready)
        assert ctx.get(dut.o.payload) == sum(
            number + 1 << number * word_width for number in range(words))

    run(dut, bench)
