# SPDX-License-Identifier: BSD-2-Clause
"""Blocks of rows: every row once, in order, and few elements at a time."""

import math

import numpy as np
import pytest

from hypercast.reference import row_blocks


@pytest.mark.parametrize("most", [1, 7, 64])
@pytest.mark.parametrize("shape", [(0,), (0, 5), (1, 100), (20,), (20, 1), (20, 3), (5, 4, 3)])
def test_every_row_is_in_one_block(monkeypatch, shape, most):
    monkeypatch.setattr(row_blocks, "BLOCK_ELEMENTS", most)
    values = np.arange(math.prod(shape)).reshape(shape)
    blocks = [values[some] for some in row_blocks.row_blocks(shape)]
    assert np.array_equal(np.concatenate(blocks), values)
    assert all(len(block) <= 1 or block.size <= most for block in blocks)
    assert len(blocks) == 1 or all(len(block) for block in blocks)
