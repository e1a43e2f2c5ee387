# SPDX-License-Identifier: BSD-2-Clause
"""FrameBuffer: good frames in order, others not at all."""

import numpy as np
import pytest

from hypercast.rtl.serial.frame_buffer import FrameBuffer
from tests.bench import get, run


@pytest.mark.parametrize("stall", [0.0, 0.5, 0.97])
def test_frames(stall):
    """A slow reader makes whole frames disappear, never parts of one."""
    rng = np.random.default_rng(int(100 * stall))
    dut = FrameBuffer(16)
    frames = []
    for number in range(300):
        length = int(rng.integers(17, 20) if number % 10 == 0 else rng.integers(1, 8))
        frames.append([number << 8 | index for index in range(length)])
    state = {"sent": False}
    received = []

    async def sender(ctx):
        for frame in frames:
            good = rng.random() < 0.7
            for index, data in enumerate(frame):
                ctx.set(dut.word, {"data": data, "last": good and index == len(frame) - 1})
                ctx.set(dut.write, 1)
                await ctx.tick()
                ctx.set(dut.write, 0)
                ctx.set(dut.word, {"data": 0xBAD, "last": rng.random() < 0.5})
                if rng.random() < 0.3:
                    await ctx.tick()
            if not good:
                frame[0] = None
                ctx.set(dut.discard, 1)
                await ctx.tick()
                ctx.set(dut.discard, 0)
        state["sent"] = True

    async def receiver(ctx):
        while True:
            received.extend(await get(ctx, dut.o, 1, rng, stall))

    async def rest(ctx):
        while not state["sent"]:
            await ctx.tick()
        await ctx.tick().repeat(2)
        while ctx.get(dut.o.valid):
            await ctx.tick()
        await ctx.tick().repeat(2)

    run(dut, sender, rest, background=[receiver], cycles=100_000)
    whole = [[]]
    for word in received:
        whole[-1].append(word.data)
        if word.last:
            whole.append([])
    good = [frame for frame in frames if frame[0] is not None]
    assert all(frame in good for frame in whole[:-1])
    numbers = [frame[0] >> 8 for frame in whole[:-1]]
    assert numbers == sorted(set(numbers))
    if not stall:
        assert whole[:-1] == [frame for frame in good if len(frame) <= 16]
    else:
        assert len(numbers) > 20


def test_a_frame_is_seen_when_it_is_complete():
    dut = FrameBuffer(4)

    async def bench(ctx):
        ctx.set(dut.write, 1)
        for last in (0, 0, 1):
            ctx.set(dut.word, {"data": 7, "last": last})
            await ctx.tick()
            assert not ctx.get(dut.o.valid)
        ctx.set(dut.write, 0)
        await ctx.tick()
        assert ctx.get(dut.o.valid)

    run(dut, bench)


def test_nothing_is_written_between_words():
    """Whatever stands at the input; and what is good does not change before it is read."""
    dut = FrameBuffer(4)

    async def bench(ctx):
        for data in range(4):
            ctx.set(dut.word, {"data": data, "last": 1})
            ctx.set(dut.write, 1)
            await ctx.tick()
            ctx.set(dut.write, 0)
            ctx.set(dut.word, {"data": 0xBAD, "last": 0})
            await ctx.tick().repeat(2)
        ctx.set(dut.write, 1)  # full: no room for this one
        await ctx.tick()
        ctx.set(dut.write, 0)
        received = await get(ctx, dut.o, 4)
        assert [(word.data, word.last) for word in received] == [(data, 1) for data in range(4)]
        await ctx.tick()
        assert not ctx.get(dut.o.valid)

    run(dut, bench)


def test_a_frame_that_just_fits():
    dut = FrameBuffer(4)

    async def bench(ctx):
        for count in (4, 5, 4, 2, 2):  # the one of five is forgotten
            for index in range(count):
                ctx.set(dut.word, {"data": 16 * count + index, "last": index == count - 1})
                ctx.set(dut.write, 1)
                await ctx.tick()
            ctx.set(dut.write, 0)
            await ctx.tick()
            if count != 5:
                received = await get(ctx, dut.o, count)
                assert [word.data for word in received] == [
                    16 * count + index for index in range(count)]
            await ctx.tick()
            assert not ctx.get(dut.o.valid)

    run(dut, bench)


@pytest.mark.parametrize("depth", [2, 8])
def test_depths_that_will_do(depth):
    FrameBuffer(depth)


@pytest.mark.parametrize("depth", [0, 1, 12])
def test_depth(depth):
    with pytest.raises(ValueError, match=f"depth must be a power of two, not {depth}"):
        FrameBuffer(depth)
