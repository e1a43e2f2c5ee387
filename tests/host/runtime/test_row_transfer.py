# SPDX-License-Identifier: BSD-2-Clause
"""Rows and masks in and out of a chip's memories: out is what went in, and nothing else changes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.compiler.pieces import compile_pieces
from hypercast.host.runtime.chip_device import ChipDevice
from hypercast.host.runtime.row_transfer import read_mask, read_rows, write_mask, write_rows
from hypercast.reference.tensor import Kind, Tensor
from tests.host.models import SMALL, small_graph, small_model
from tests.host.runtime.fake_chip import FakeChip

CONFIG = SMALL.replace(program_rows=512, dimensions=2, lanes=4, channel_words=4096)
HIDDEN, MASK = Tensor(Kind.HIDDEN, 1), Tensor(Kind.MASK, 1)


def chip(vertices, hidden):
    model = small_model(small_graph(vertices), config=CONFIG, hidden=(hidden,))
    return ChipDevice(FakeChip(CONFIG), compile_pieces(model, CONFIG), model)


@settings(max_examples=12, deadline=None)
@given(st.integers(3, 40), st.integers(1, 11), st.data())
def test_rows_out_and_in(vertices, hidden, data):
    device = chip(vertices, hidden)
    driver, job = device.driver, device.job
    generator = np.random.default_rng(vertices)
    expected = generator.integers(-99, 99, (vertices, hidden))
    write_rows(driver, job, HIDDEN, expected)
    first = data.draw(st.integers(0, vertices - 1))
    count = data.draw(st.integers(0, vertices - first))
    expected[first:first + count] = some = generator.integers(-99, 99, (count, hidden))
    write_rows(driver, job, HIDDEN, some, first=first)
    np.testing.assert_array_equal(driver.matrix(job, HIDDEN), expected)
    rows = np.array(data.draw(st.lists(st.integers(0, vertices - 1), max_size=9)), dtype=np.int64)
    np.testing.assert_array_equal(read_rows(driver, job, HIDDEN, rows), expected[rows])


@settings(max_examples=12, deadline=None)
@given(st.integers(3, 40), st.integers(1, 11))
def test_masks_out_and_in(vertices, hidden):
    device = chip(vertices, hidden)
    before = device.driver.matrix(device.job, Tensor(Kind.GRADIENT, 1))
    mask = np.random.default_rng(hidden).random((vertices, hidden)) < 0.5
    write_mask(device.driver, device.job, MASK, mask)
    np.testing.assert_array_equal(read_mask(device.driver, device.job, MASK, hidden), mask)
    np.testing.assert_array_equal(
        device.driver.matrix(device.job, Tensor(Kind.GRADIENT, 1)), before)
