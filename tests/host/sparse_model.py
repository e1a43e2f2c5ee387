# SPDX-License-Identifier: BSD-2-Clause
"""Reads word-sparse memory images, word by word, as the format is documented."""

import numpy as np

from hypercast.host.compiler.packing import unpack_rows


def integers(image):
    """The words of a memory image as integers."""
    return [sum(int(chunk) << 32 * i for i, chunk in enumerate(word)) for word in image]


def stored_words(image, config):
    """The (row, word number in the image) pairs of a panel's memory words, in order."""
    pairs, position = [], 0
    while position < len(image):
        numbers = image[position].astype("<u4").view("<u2")
        rows = numbers[numbers != 0].astype(int) - 1
        assert len(rows) and not numbers[len(rows):].any(), "a group without rows, or with gaps"
        pairs += [(int(row), position + 1 + i) for i, row in enumerate(rows)]
        position += 1 + len(rows)
    assert position == len(image), "the last group lacks words"
    return pairs


def indexed_panels(image, index, address, config):
    """For each entry of an index: the rows and the (words, lanes) elements it leads to."""
    entries = index.astype("<u4").reshape(-1, 2)
    for start, words in entries:
        part = image[int(start) - address:int(start) - address + int(words)]
        pairs = stored_words(part, config)
        yield ([row for row, _ in pairs],
               unpack_rows(part, config)[[number for _, number in pairs]].astype(np.int64))
