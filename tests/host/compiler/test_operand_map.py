# SPDX-License-Identifier: BSD-2-Clause
"""Places in the operand buffer do not overlap, and what does not fit has none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.operand_map import LeftOperand, OperandMap
from hypercast.rtl.isa import OperandSource
from tests.host.models import SMALL
from tests.host.noted_programs import noted, summary

CONFIG = SMALL.replace(operand_words=64)


def test_first_come_first_served():
    places = OperandMap(CONFIG, [LeftOperand.dense("X", 4, 10), LeftOperand.dense("H1", 5, 5),
                                 LeftOperand.dense("dT2", 4, 6)])
    assert [places.holds(name) for name in ("X", "H1", "dT2", "H2")] == [True, False, True, False]
    assert places.fields("dT2", 0, 0, fill=True)["operand_base"] == 40


def test_matrices_of_several_strips_share_what_is_left():
    """From the first that does not fit on, whether they would fit or not; others keep theirs."""
    config = CONFIG.replace(accumulator_rows=16)
    places = OperandMap(config, [
        LeftOperand.dense("dT2", 1, 17), LeftOperand.dense("X", 4, 40),
        LeftOperand.dense("H1", 1, 20), LeftOperand.dense("H2", 2, 10)])
    assert [places.holds(name) for name in ("dT2", "X", "H1", "H2")] == [True, False, False, True]
    assert [places.is_tiled(name) for name in ("dT2", "X", "H1", "H2")] == [
        False, True, True, False]
    assert [places.shared_entries(name) for name in ("dT2", "X", "H1", "H2", "H3")] == [
        0, 64 - 17 - 20, 64 - 17 - 20, 0, 0]
    assert places.cuts("X") == () and places.panel_places("X") == 0
    for name in ("X", "H1"):
        assert places.share_place(name, 3, 5, fill=False) == {
            "operand": OperandSource.BUFFER, "operand_base": 17 + 20 + 3, "operand_stride": 5}


def test_one_strip_that_does_not_fit_shares_with_nobody():
    places = OperandMap(CONFIG, [LeftOperand.dense("X", 2, 10), LeftOperand.dense("H1", 5, 13)])
    assert not places.is_tiled("H1") and places.shared_entries("H1") == 3 * 13
    assert places.share_place("H1", 13, 4, fill=True) == {
        "operand": OperandSource.FILL, "operand_base": 20 + 13, "operand_stride": 4}


def test_all_of_the_buffer_can_be_used():
    assert OperandMap(CONFIG, [LeftOperand.dense("X", 8, 8)]).holds("X")


def test_a_matrix_larger_than_the_buffer_gets_what_is_left():
    """The matrix' first panels are in the buffer, and instructions are parted behind them."""
    places = OperandMap(CONFIG, [LeftOperand.dense("X", 2, 10), LeftOperand.dense("H1", 5, 13),
                                 LeftOperand.dense("H2", 5, 1)])
    assert places.holds("H1", 0, 3) and places.holds("H1", 2)
    assert not places.holds("H1", 2, 2) and not places.holds("H1", 3)
    assert places.cuts("H1") == (0, 3) and places.cuts("X") == ()
    assert places.entry("H1", 2, 12) == 20 + 3 * 13 - 1
    assert places.holds("H2", 0, 5) and places.entry("H2", 0, 0) == 20 + 3 * 13
    assert not OperandMap(CONFIG, [
        LeftOperand.dense("X", 2, 30), LeftOperand.dense("H1", 13, 5)]).holds("H1")


def test_what_does_not_fit_shares_its_place():
    """The place of all of its panels that fit, for parts of any shape."""
    places = OperandMap(CONFIG, [LeftOperand.dense("X", 2, 10), LeftOperand.dense("H1", 5, 13)])
    assert [places.panel_places(name) for name in ("X", "H1", "H2")] == [0, 3, 0]
    assert places.share_place("H1", 7, 6, fill=True) == {
        "operand": OperandSource.FILL, "operand_base": 27, "operand_stride": 6}
    assert places.share_place("H1", 0, 13, fill=False)["operand"] == OperandSource.BUFFER


def test_panels_no_instruction_can_name_stay_in_memory():
    """One panel of as many rows as the largest buffer has entries."""
    config = CONFIG.replace(operand_words=65536)
    assert OperandMap(config, [LeftOperand.dense("X", 1, 65535)]).holds("X")
    assert not OperandMap(config, [LeftOperand.dense("X", 1, 65536)]).holds("X")


def test_panels_and_rows_of_a_dense_matrix():
    places = OperandMap(CONFIG, [LeftOperand.dense("X", 4, 10), LeftOperand.dense("H1", 4, 5)])
    assert places.fields("H1", 2, 3, fill=True) == {
        "operand": OperandSource.FILL, "operand_base": 40 + 2 * 5 + 3, "operand_stride": 5}
    assert places.fields("H1", 2, 3, fill=False)["operand"] == OperandSource.BUFFER
    assert places.cuts("H1") == places.cuts("H2") == ()


def test_pieces_of_a_sparse_matrix_begin_at_the_same_entry_in_every_core():
    """Two cores, five panels in pieces of two, one and two: each as large as any core needs."""
    words = np.array([[[3, 1, 0, 5, 2]],
                      [[1, 2, 4, 1, 1]]])
    parts = LeftOperand.sparse("X", [0, 2, 3], words)
    assert parts.sizes == (4, 4, 7) and parts.total == 15
    places = OperandMap(CONFIG, [LeftOperand.dense("H1", 4, 5), parts])
    assert places.cuts("X") == (0, 2, 3)
    assert [places.fields("X", first, 0, fill=False)["operand_base"] for first in (0, 2, 3)] == [
        20, 24, 28]
    assert places.fields("X", 2, 0, fill=False)["operand_stride"] == 0


def test_a_sparse_matrix_of_several_strips_has_no_place():
    """Instructions on it end where pieces do."""
    parts = LeftOperand.sparse("X", [0, 2], np.ones((2, 3, 5), dtype=int))
    places = OperandMap(CONFIG, [parts])
    assert not places.holds("X") and places.cuts("X") == () and places.starts("X") == (0, 2)


@pytest.mark.parametrize("name", [
    "plain", "nothing bypassed", "two bypassed panels", "GraphSAGE", "jumping"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


dense = st.tuples(st.integers(1, 6), st.integers(1, 30)).map(
    lambda shape: lambda name: LeftOperand.dense(name, *shape))
sparse = st.lists(st.integers(1, 20), min_size=1, max_size=4).map(
    lambda sizes: lambda name: LeftOperand.sparse(name, range(len(sizes)), np.array([[sizes]])))


@given(st.lists(dense | sparse, max_size=6), st.sampled_from([16, 32, 64]))
def test_places_are_apart_and_none_is_wasted(makers, size):
    """A matrix without a place would not have fitted behind those before it."""
    wanted = [make(f"X{number}") for number, make in enumerate(makers)]
    config, used = CONFIG.replace(operand_words=size, accumulator_rows=64), []
    places = OperandMap(config, wanted)
    for parts in wanted:
        name, free, own = parts.name, size - len(used), []
        assert places.starts(name) == (places.cuts(name) if parts.stride else parts.firsts)
        for first, count in zip(parts.firsts, parts.sizes, strict=True):
            if places.holds(name, first):
                found = places.fields(name, first, 0, fill=False)
                assert found == {"operand": OperandSource.BUFFER, "operand_stride": parts.stride,
                                 "operand_base": found["operand_base"]}
                own += range(found["operand_base"], found["operand_base"] + count)
        if own:
            assert own == list(range(len(used), len(used) + len(own)))
            used += own
        elif parts.stride and sum(parts.sizes) > size:
            assert free < parts.stride
        else:
            assert free < sum(parts.sizes)
        if own and len(own) < sum(parts.sizes):
            assert parts.stride and sum(parts.sizes) > size and free - len(own) < parts.stride
            assert places.cuts(name) == (0, len(own) // parts.stride)
            assert not places.holds(name, 0, len(own) // parts.stride + 1)
        elif own:
            assert places.cuts(name) == (() if parts.stride else parts.firsts)
            assert places.holds(name, 0, len(parts.sizes))
    assert len(used) <= size
