# SPDX-License-Identifier: BSD-2-Clause
"""BackDoor: words in banks, with their parities."""

import numpy as np
import pytest

from hypercast.host.transport.transport import TransportError
from hypercast.sim.back_door import BackDoor

#: Bits of a word, pieces it is read in, banks.
SHAPES = [(16, 1, 1), (32, 1, 2), (64, 2, 4), (128, 4, 1), (256, 8, 2)]


def memory(width, chunks, banks, depth=32):
    contents = [np.zeros((depth // banks, width // 32 + 1), dtype=np.uint32) for _ in range(banks)]
    return BackDoor("a memory", contents, width, chunks), contents


def random_words(rng, count, width, chunks):
    words = rng.integers(1 << 32, size=(count, chunks), dtype=np.uint32)
    words[:, -1] &= np.uint32((1 << (width - 32 * (chunks - 1))) - 1)
    return words


@pytest.mark.parametrize(("width", "chunks", "banks"), SHAPES)
def test_words_come_back(width, chunks, banks):
    door, _ = memory(width, chunks, banks)
    rng = np.random.default_rng(width)
    expected = np.zeros((32, chunks), dtype=np.uint32)
    for _ in range(30):
        first = int(rng.integers(32))
        words = random_words(rng, int(rng.integers(33 - first)), width, chunks)
        door.write(first, words)
        expected[first:first + len(words)] = words
        first = int(rng.integers(32))
        count = int(rng.integers(33 - first))
        assert np.array_equal(door.read(first, count), expected[first:first + count])


@pytest.mark.parametrize(("width", "chunks", "banks"), SHAPES)
def test_parity_is_above_the_bits(width, chunks, banks):
    door, contents = memory(width, chunks, banks)
    words = random_words(np.random.default_rng(0), 8, width, chunks)
    door.write(0, words)
    for number, word in enumerate(words):
        stored = contents[number % banks][number // banks]
        bits = sum(int(piece) << 32 * index for index, piece in enumerate(word))
        assert sum(int(piece) << 32 * index for index, piece in enumerate(stored)) == (
            bits | (bits.bit_count() & 1) << width)


@pytest.mark.parametrize(("width", "chunks", "banks"), SHAPES)
def test_flipped_bits_are_found(width, chunks, banks):
    door, contents = memory(width, chunks, banks)
    for bit in (0, width - 1, width):
        door.write(0, random_words(np.random.default_rng(bit), 32, width, chunks))
        contents[5 % banks][5 // banks, bit // 32] ^= np.uint32(1 << bit % 32)
        with pytest.raises(TransportError, match="word 5 of a memory is not what was written"):
            door.read(3, 4)
        assert len(door.read(6, 4)) == 4


def test_bits_beyond_a_word_are_not_stored():
    door, _ = memory(16, 1, 1)
    door.write(3, np.array([[0xABCD1234]], dtype=np.uint32))
    assert door.read(3, 1).tolist() == [[0x1234]]
