# SPDX-License-Identifier: BSD-2-Clause
"""Frames as bytes: what is encoded is decoded, and nothing else."""

import zlib

from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.runtime.serial.frames import FrameDecoder, encode
from hypercast.rtl.serial.protocol import ESCAPE, FLAG, FRAME_WORDS

words = st.lists(st.one_of(
    st.integers(0, 2**32 - 1), st.sampled_from([0x7E7E7E7E, 0x7D7E7D7E])), min_size=1, max_size=20)


def test_layout():
    assert encode([0x0000007E]) == (
        bytes([FLAG, ESCAPE, 0x5E, 0, 0, 0])
        + zlib.crc32(bytes([0x7E, 0, 0, 0])).to_bytes(4, "little") + bytes([FLAG]))


@given(st.lists(words), st.integers(1, 30))
def test_decoded_in_pieces(frames, size):
    data = b"".join(map(encode, frames))
    decoder = FrameDecoder()
    assert [frame for start in range(0, len(data), size)
            for frame in decoder.feed(data[start:start + size])] == frames


@given(words, st.binary(max_size=50), words)
def test_garbage_between_frames(first, garbage, second):
    decoder = FrameDecoder()
    found = decoder.feed(encode(first) + garbage + encode(second))
    assert found == [first, second]


@given(words, st.data())
def test_one_changed_byte_is_noticed(frame, data):
    changed = bytearray(encode(frame))
    position = data.draw(st.integers(0, len(changed) - 1))
    changed[position] ^= data.draw(st.integers(1, 255))
    assert frame not in FrameDecoder().feed(bytes(changed))


def test_endless_garbage_is_not_kept():
    decoder = FrameDecoder()
    for _ in range(100):
        assert decoder.feed(bytes(1000)) == []
    assert len(decoder._rest) <= 8 * FRAME_WORDS + 1
    assert decoder.feed(encode([1])) == [[1]]


def test_the_longest_frame_with_every_byte_escaped():
    frame = [0x7E7E7E7E] * (FRAME_WORDS - 1)
    decoder = FrameDecoder()
    data = encode(frame)
    assert decoder.feed(data[:-1]) == []
    assert decoder.feed(data[-1:]) == [frame]
