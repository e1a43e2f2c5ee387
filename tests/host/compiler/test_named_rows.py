# SPDX-License-Identifier: BSD-2-Clause
"""Rows that stay in memory are named by the core that owns them, in order, whatever the gaps."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.messages import compile_messages, read_send_list
from hypercast.host.compiler.named_rows import NamedRows
from hypercast.rtl.config import Config
from hypercast.rtl.placement import core_of, rank_of, row_of

#: Records of 14 bits for skips at least, of 30 at most, and in every 32 bits of a record.
DIMENSIONS = range(7)


def configuration(dimensions):
    return Config(dimensions=dimensions, lanes=8, element_width=16, planes=1)


def walked(skips, destinations):
    """The rows that the records of a core read."""
    return np.cumsum(skips)[destinations != 0]


@given(st.sampled_from(DIMENSIONS), st.integers(0, 300), st.integers(0, 2 ** 32 - 1),
       st.sampled_from([1, 3, 500, 40_000]))
def test_every_row_is_named_once(dimensions, count, seed, spread):
    config, rng = configuration(dimensions), np.random.default_rng(seed)
    rows = rng.choice(max(count, count * spread), count, replace=False)
    listed = NamedRows.of(rows, config)
    assert listed.skips.shape == (config.cores, listed.count // config.cores)
    assert (listed.skips < 1 << config.skip_width).all()
    owners, records = core_of(listed.ranks, config.cores), row_of(listed.ranks, config.cores)
    assert (owners == core_of(rows, config.cores)).all()
    positions = np.cumsum(listed.skips.astype(np.int64), axis=1)
    assert (positions[owners, records] == row_of(rows, config.cores)).all()
    assert len(set(listed.ranks.tolist())) == count


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_send_lists_with_names(dimensions):
    """Destinations and planes are as without; every core reads the rows of its own vertices."""
    config, rng = configuration(dimensions), np.random.default_rng(dimensions)
    rows = rng.choice(3_000_000, 90, replace=False)
    listed = NamedRows.of(rows, config)
    matrix = scipy.sparse.random_array((40, 90), density=0.1, rng=rng, format="csr")
    matrix.data = rng.integers(1, 100, matrix.nnz)
    messages = compile_messages(listed.columns(matrix), config)
    named = listed.list_rows(messages.send_lists)
    read = []
    for core, (before, after) in enumerate(zip(messages.send_lists, named, strict=True)):
        count = listed.count // config.cores
        plain, found = (read_send_list(words, count, config) for words in (before, after))
        for one, other in zip(plain, found, strict=True):
            assert np.array_equal(one, other)
        read += rank_of(core, walked(listed.skips[core].astype(np.int64), found[0]),
                        config.cores).tolist()
        records = np.ascontiguousarray(after).tobytes()
        size = config.send_record_width // 8
        skips = [int.from_bytes(records[first:first + size], "little") >> config.cores + 2
                 for first in range(0, count * size, size)]
        assert skips == listed.skips[core].tolist()
    assert sorted(read) == sorted(rows[np.unique(matrix.indices)].tolist())


def test_lists_of_a_fair_share_have_room():
    config, rng = configuration(4), np.random.default_rng(0)
    for count in (1, 16, 500, 20_000):
        for _ in range(20):
            listed = NamedRows.of(rng.choice(20_000, count, replace=False), config)
            assert listed.skips.shape[1] <= NamedRows.most(count, 20_000, config)
