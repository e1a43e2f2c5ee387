# SPDX-License-Identifier: BSD-2-Clause
"""Memory formats: packing, unpacking, dealing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.errors import InputError
from hypercast.host.compiler.memory_map import CapacityError, MemoryMap, Region
from hypercast.host.compiler.packing import (
    deal,
    pack_entry,
    pack_masks,
    pack_panels,
    pack_records,
    pack_rows,
    undeal,
    unpack_entry,
    unpack_masks,
    unpack_panels,
    unpack_rows,
)
from hypercast.host.compiler.state import STATE, load_state, matrix_of, store_state, weight_rows
from hypercast.host.compiler.weights import Weights
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.config import Config
from hypercast.rtl.placement import core_of

CONFIGS = [Config(lanes=lanes, element_width=width, dimensions=dimensions)
           for lanes in (2, 4, 16) for width in (8, 16) for dimensions in (0, 3)]


@pytest.mark.parametrize("config", CONFIGS)
def test_rows_round_trip(config):
    rng = np.random.default_rng(1)
    top = 1 << config.element_width - 1
    values = rng.integers(-top, top, (7, config.lanes))
    words = pack_rows(values, config)
    assert words.shape == (7, config.chunks)
    assert np.array_equal(unpack_rows(words, config), values)
    first = int(words[0, 0]) & (2 * top - 1)
    assert first == int(values[0, 0]) & (2 * top - 1)


def test_too_large_an_element_is_refused():
    with pytest.raises(InputError, match="element 200 does not fit 8 bits"):
        pack_rows(np.array([[1, 200]]), Config(lanes=2, element_width=8))


@pytest.mark.parametrize("width", [8, 16])
def test_ends_of_the_range_of_elements(width):
    config, top = Config(lanes=2, element_width=width), 1 << width - 1
    ends = np.array([[-top, top - 1]])
    assert np.array_equal(unpack_rows(pack_rows(ends, config), config), ends)
    for bad in (-top - 1, top):
        with pytest.raises(InputError, match=f"element {bad} does not fit {width} bits"):
            pack_rows(np.array([[-top, top - 1], [bad, 0]]), config)
    assert pack_rows(np.zeros((0, 2)), config).shape == (0, config.chunks)


@pytest.mark.parametrize(("exponent", "peak", "word"), [
    (0, None, 0), (-1, None, 0xFF), (5, 7, 0x10705), (-28, -3, 0x1FDE4), (127, 127, 0x17F7F),
    (-128, -128, 0x18080), (0, 0, 0x10000)])
def test_entries_of_the_exponent_file(exponent, peak, word):
    assert pack_entry(exponent, peak) == word
    assert unpack_entry(word) == (exponent, peak)


def test_peaks_too_low_become_the_lowest():
    assert pack_entry(1, -300) == pack_entry(1, -128) == 0x18001


@pytest.mark.parametrize("config", CONFIGS)
def test_panels_round_trip(config):
    rng = np.random.default_rng(2)
    matrix = rng.integers(-100, 100, (5, 21))
    words = pack_panels(matrix, 8, config)
    assert len(words) == 8 * -(-21 // config.lanes)
    assert np.array_equal(unpack_panels(words, 5, 21, 8, config), matrix)
    elements = unpack_rows(words, config)
    for panel in range(len(words) // 8):  # what is beyond rows and columns is zero
        part = np.zeros((8, config.lanes), dtype=np.int64)
        columns = matrix[:, panel * config.lanes:(panel + 1) * config.lanes]
        part[:5, :columns.shape[1]] = columns
        assert np.array_equal(elements[panel * 8:panel * 8 + 8], part)


@pytest.mark.parametrize("vertices", [0, 1, 7, 8, 9, 100])
def test_dealing_round_trip(vertices):
    config = Config(dimensions=3)
    matrix = np.arange(vertices * 2).reshape(vertices, 2)
    parts = [deal(matrix, core, config) for core in range(8)]
    assert sum(len(part) for part in parts) == vertices
    for core, part in enumerate(parts):
        ranks = [rank for rank in range(vertices) if core_of(rank, 8) == core]
        assert np.array_equal(part, matrix[ranks])
    longer = [np.concatenate([part, [[-1, -1]]]) for part in parts]
    assert np.array_equal(undeal(longer, vertices, config), matrix)
    assert np.array_equal(undeal(parts, vertices, config), matrix)


def test_records_fill_words_from_the_low_bits():
    config = Config(lanes=4, element_width=16)
    words = pack_records(np.array([1, 2, 3, 4, 5], dtype="<u2"), config)
    assert words.tolist() == [[0x00020001, 0x00040003], [5, 0]]


@pytest.mark.parametrize("adam", [False, True])
@pytest.mark.parametrize("config", CONFIGS)
def test_state_round_trip(config, adam):
    rng = np.random.default_rng(3)
    values = 3 if adam else 2
    panels, per_row = -(-5 // config.lanes), values * config.state_words
    for shape, height in (((21, 5), -(-21 // config.lanes) * config.lanes), ((1, 5), 1)):
        rows = panels * height
        state = Region(name="state", channel=1, address=100,
                       words=-(-rows // config.cores) * per_row)
        weights = Weights(name="W1", shape=shape, base=0, height=height, panels=panels,
                          state=state, portions=(range(rows),), adam=adam)
        state_of = [rng.integers(-2**31, 2**31, shape) for _ in range(values)]
        images = [np.zeros((state.words, config.chunks), dtype=np.uint32)
                  for _ in range(config.cores)]
        kinds = STATE[:values]
        stored = dict(zip(kinds, state_of, strict=True))
        store_state({kind: stored[kind] for kind in reversed(kinds)}, weights, config, images)
        got = load_state(weights, config, images)
        assert len(got) == values and all(map(np.array_equal, got, state_of))
        # Second moments, if there are any, precede masters and momenta.
        top, bottom, *first = (weight_rows(value, weights, config) for value in state_of)
        for row in range(rows):
            words = images[row % config.cores][row // config.cores * per_row:][:per_row]
            assert np.array_equal(words.ravel().view("<i4"), np.concatenate(
                [part[row] for part in (*first, top, bottom)]))
        assert np.array_equal(matrix_of(top, weights, config), state_of[0])


def test_full_channel_is_refused_with_the_remedy():
    memory = MemoryMap(Config(channel_words=64, lanes=4), rows=[20])
    memory.matrix(FEATURES, 0, 16)
    with pytest.raises(CapacityError, match=r"channel_words is 64, but 80 are.*channel 0.*128"):
        memory.check({})


@given(st.integers(0, 30), st.integers(1, 20), st.integers(1, 9), st.sampled_from([2, 4, 16]))
def test_masks(rows, columns, more, lanes):
    """Rows are packed by ``mask_rows``, the first one lowest; panels begin with a word."""
    config = Config(lanes=lanes)
    mask = np.random.default_rng(rows).random((rows, columns)) < 0.5
    words = pack_masks(mask, rows + more, config)
    assert len(words) == -(-columns // lanes) * -(-(rows + more) // config.mask_rows)
    np.testing.assert_array_equal(unpack_masks(words, rows, columns, rows + more, config), mask)
    if rows and len(words):
        first = int(words[0, 0])
        assert [first >> lane & 1 for lane in range(min(lanes, columns))] == list(
            mask[0, :lanes].astype(int))
