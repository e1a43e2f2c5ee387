# SPDX-License-Identifier: BSD-2-Clause
"""Optimiser state in memory: every value is where its weight's row is."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.packing import unpack_rows
from hypercast.host.compiler.state import (
    STATE,
    load_state,
    load_sums,
    matrix_of,
    store_state,
    store_sums,
    weight_bank,
    weight_rows,
)
from hypercast.host.compiler.weights import Weights
from tests.host.models import SMALL


@st.composite
def cases(draw):
    """A configuration, a parameter and its state."""
    lanes = draw(st.sampled_from([2, 4, 8]))
    config = SMALL.replace(lanes=lanes, dimensions=draw(st.integers(0, 2)))
    rows, columns, adam = draw(st.integers(1, 9)), draw(st.integers(1, 9)), draw(st.booleans())
    bias = rows == 1 and draw(st.booleans())
    weights = Weights(name="W1", shape=(rows, columns), base=0,
                      height=1 if bias else -(-rows // lanes) * lanes,
                      panels=-(-columns // lanes), state=None, portions=(), adam=adam,
                      kept=draw(st.booleans()))
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    state = {kind: generator.integers(-2**31, 2**31, (rows, columns))
             for kind in STATE[:3 if adam else 2]}
    return config, weights, state


def images_of(config, weights):
    """Empty words of a region with a word to spare, for each core."""
    words = -(-weights.rows // config.cores) * weights.state_values * config.state_words + 1
    return [np.full((words, config.chunks), 77, dtype=np.uint32) for _ in range(config.cores)]


@given(cases())
def test_where_every_value_lies(case):
    """Second moments, then masters and momenta, of a row of the weight bank; else zeros, as where
    sums are kept before them."""
    config, weights, state = case
    images = images_of(config, weights)
    store_state(state, weights, config, images)
    expected = [np.zeros((-(-(weights.rows - core) // config.cores), weights.state_values,
                          config.lanes), dtype=np.int64) for core in range(config.cores)]
    kinds = [kind for kind in ("second_moment", "master", "momentum") if kind in state]
    for index, kind in enumerate(kinds, 2 * weights.kept):
        for (row, column), value in np.ndenumerate(state[kind]):
            panel, lane = divmod(column, config.lanes)
            place, core = divmod(panel * weights.height + row, config.cores)
            expected[core][place, index, lane] = value
    for image, values in zip(images, expected, strict=True):
        found = image.view("<i4").ravel()
        assert found[:values.size].tolist() == values.ravel().tolist()
        assert set(found[values.size:].tolist()) == {77}


@given(cases())
def test_what_was_stored_is_loaded(case):
    config, weights, state = case
    images = images_of(config, weights)
    store_state(state, weights, config, images)
    loaded = load_state(weights, config, [image[:-1] for image in images])
    assert [matrix.tolist() for matrix in loaded] == [
        state[kind].tolist() for kind in STATE[:3 if weights.adam else 2]]


@given(cases(), st.integers(0, 99))
def test_sums_beside_the_state(case, seed):
    """The lower 32 bits of a row, and the higher ones; they change no state."""
    config, weights, state = case
    weights = Weights(**{**vars(weights), "kept": True})
    images = images_of(config, weights)
    store_state(state, weights, config, images)
    sums = np.random.default_rng(seed).integers(-1 << 47, 1 << 47, weights.shape)
    store_sums(sums, weights, config, images)
    whole = [image[:-1] for image in images]
    assert {*images[0][-1].tolist()} == {77}
    assert load_sums(weights, config, whole).tolist() == sums.tolist()
    assert [matrix.tolist() for matrix in load_state(weights, config, whole)] == [
        state[kind].tolist() for kind in STATE[:3 if weights.adam else 2]]
    first = whole[0].ravel()
    assert first[0] == sums[0, 0] & 0xFFFFFFFF
    assert first[config.lanes] == sums[0, 0] >> 32 & 0xFFFFFFFF


@pytest.mark.parametrize(("height", "panels", "shape"), [(4, 2, (3, 3)), (1, 3, (1, 5))])
def test_rows_of_the_weight_bank(height, panels, shape):
    """Panel by panel, padded with zeros; and back."""
    weights = SimpleNamespace(height=height, panels=panels, shape=shape)
    matrix = np.arange(1, 1 + shape[0] * shape[1]).reshape(shape)
    rows = weight_rows(matrix, weights, SMALL)
    assert rows.shape == (height * panels, SMALL.lanes)
    for panel in range(panels):
        part = matrix[:, panel * 2:panel * 2 + 2]
        own = rows[panel * height:panel * height + height]
        assert own[:shape[0], :part.shape[1]].tolist() == part.tolist()
        assert own.sum() == part.sum()
    assert matrix_of(rows, weights, SMALL).tolist() == matrix.tolist()


def test_parameters_follow_each_other_in_the_weight_bank():
    shapes = {"W1": ((3, 3), 0, 4, 2), "b1": ((1, 3), 8, 1, 2)}
    weights = {name: Weights(name=name, shape=shape, base=base, height=height, panels=panels,
                             state=None, portions=())
               for name, (shape, base, height, panels) in shapes.items()}
    operands = {"W1": np.arange(9).reshape(3, 3), "b1": np.array([-1, -2, -3]), "W9": np.ones(1)}
    rows = unpack_rows(weight_bank(operands, weights, SMALL), SMALL)
    np.testing.assert_array_equal(rows, [
        [0, 1], [3, 4], [6, 7], [0, 0], [2, 0], [5, 0], [8, 0], [0, 0], [-1, -2], [-3, 0]])
