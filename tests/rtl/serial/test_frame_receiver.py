# SPDX-License-Identifier: BSD-2-Clause
"""FrameReceiver against the host's encoder and decoder."""

import numpy as np
import pytest

from hypercast.host.runtime.serial.frames import FrameDecoder, encode
from hypercast.rtl.serial.frame_receiver import FrameReceiver
from hypercast.rtl.serial.protocol import ESCAPE, FLAG
from tests.bench import run

ERROR = None


def receive(items):
    """The good frames among bytes and ``ERROR``s, without check sequence."""
    dut = FrameReceiver()
    frames, words = [], []

    async def watch(ctx):
        while True:
            _, _, write, discard, word = await ctx.tick().sample(dut.write, dut.discard, dut.word)
            assert not (write and discard)
            if discard:
                words.clear()
            if write and word.last:
                frames.append(words.copy())
                words.clear()
            elif write:
                words.append(word.data)

    async def bench(ctx):
        for item in items:
            ctx.set(dut.valid, item is not ERROR)
            ctx.set(dut.error, item is ERROR)
            ctx.set(dut.data, item or 0)
            await ctx.tick()
            ctx.set(dut.valid, 0)
            ctx.set(dut.error, 0)
            await ctx.tick()

    run(dut, bench, background=[watch])
    return frames


FRAMES = [[0x7E7D7E7D, 0x01020304], [0], [0xFFFFFFFF] * 3, [0x7D5E7D5D, 0x20]]


def test_frames():
    assert receive(b"".join(map(encode, FRAMES))) == FRAMES


def test_frames_that_share_a_flag():
    assert receive(encode([1, 2])[:-1] + encode([3])) == [[1, 2], [3]]


@pytest.mark.parametrize("seed", range(4))
def test_garbage(seed):
    """The same frames as the host's decoder, which was written another way."""
    rng = np.random.default_rng(seed)
    data = bytearray()
    for _ in range(60):
        frame = bytearray(encode(rng.choice([0, 0x7E7E7D7D, 1 << 31, 77], rng.integers(1, 6))))
        if rng.random() < 0.5:
            position = int(rng.integers(len(frame)))
            match rng.integers(5):
                case 0:
                    frame[position] ^= 1 << int(rng.integers(8))
                case 1:
                    del frame[position]
                case 2:
                    frame.insert(position, frame[position])
                case 3:
                    frame[position:position] = rng.choice([FLAG, ESCAPE, 0x5E, 0x5D, 1], 4).tolist()
                case 4:
                    del frame[position:]
        data += frame
    expected = FrameDecoder().feed(bytes(data))
    assert 20 < len(expected) < 60
    assert receive(data) == expected


@pytest.mark.parametrize("position", range(1, 13))
def test_an_error_of_the_line_spoils_one_frame(position):
    items = list(encode([1, 2]))
    items.insert(position, ERROR)
    assert receive([*items, *encode([3])]) == [[3]]


@pytest.mark.parametrize("data", [
    bytes([FLAG, FLAG]), bytes([FLAG, 0, 0, 0, 0, FLAG]), bytes([FLAG, ESCAPE, FLAG]),
    encode([5])[:-1] + bytes([ESCAPE, FLAG])])
def test_no_frames(data):
    assert receive(data) == []
