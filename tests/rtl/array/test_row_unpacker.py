# SPDX-License-Identifier: BSD-2-Clause
"""RowUnpacker against the words that were packed."""

import numpy as np
import pytest

from hypercast.host.compiler.sparse_words import SparseWords
from hypercast.rtl.array.row_unpacker import RowUnpacker
from hypercast.rtl.config import PRESETS
from tests.bench import get, put, run
from tests.host.sparse_model import integers, stored_words

CONFIGS = {
    "tiny": PRESETS["tiny"],
    "bytes": PRESETS["test"].replace(element_width=8),
    "wide": PRESETS["test"].replace(lanes=16),
}


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("idle,stall", [(0.0, 0.0), (0.4, 0.0), (0.0, 0.5), (0.3, 0.3)])
def test_words_and_rows(name, idle, stall):
    """Empty, full and other panels, in groups that end early and late."""
    config = CONFIGS[name]
    rng = np.random.default_rng(1)
    panels = rng.integers(1, 100, (6, 45, config.lanes))
    kept = rng.random((6, 45, 1)) < np.array([0, 1, 0.02, 0.1, 0.4, 0.9])[:, None, None]
    matrix = np.concatenate(np.where(kept, panels, 0), axis=1)
    sparse = SparseWords.of(matrix, config)
    lengths = sparse.sizes.tolist()
    words, expected = integers(sparse.words), []
    for end, length in zip(np.cumsum(lengths), lengths, strict=True):
        pairs = stored_words(sparse.words[end - length:end], config)
        expected += [(words[end - length + number] & (1 << config.data_width) - 1, row, False)
                     for row, number in pairs]
        expected[-1] = (*expected[-1][:2], True)

    unpacker = RowUnpacker(config)
    found = []

    async def receive(ctx):
        found.extend(await get(ctx, unpacker.o, len(expected), rng=rng, stall=stall))

    run(unpacker, receive,
        lambda ctx: put(ctx, unpacker.lengths, lengths, rng=rng, idle=idle),
        lambda ctx: put(ctx, unpacker.i, words, rng=rng, idle=idle))
    assert [(word.word, word.row, bool(word.last)) for word in found] == expected
