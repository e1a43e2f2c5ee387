# SPDX-License-Identifier: BSD-2-Clause
"""Windows of rows: all rows and panels, once each, and only where they gain something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.row_windows import Piece, pieces_of
from hypercast.host.compiler.vertices import Strip
from tests.host.models import SMALL

MASK = SMALL.mask_rows


def pieces(strips, results, panels, entries, *, whole=0, sweep=0, alike=False, memory=2):
    """The pieces with a memory that takes ``memory`` cycles for a word."""
    return pieces_of(
        strips, results, panels, entries, SMALL, whole=whole, sweep=sweep, alike=alike,
        plain=lambda strip: memory * strip.rows * panels,
        windowed=lambda rows, reading: (memory if reading else 1) * rows.rows * panels)


def test_rows_that_fit_take_turns():
    """Two windows of 4 panels, each read for the first panel of the product."""
    strip = Strip(first=0, rows=2 * MASK)
    low, high = Strip(first=0, rows=MASK), Strip(first=MASK, rows=MASK)
    assert pieces([strip], 3, 4, 4 * MASK) == [
        Piece(panel, strip, window, panel == 0, MASK)
        for window in (low, high) for panel in range(3)]


def test_what_is_drained_meanwhile_is_taken_whole():
    strip = Strip(first=0, rows=2 * MASK)
    first, *rest = pieces([strip], 3, 4, 4 * MASK, whole=1)
    assert first == Piece(0, strip) and first.rows == strip
    assert [(one.panel, one.fill) for one in rest] == [(1, True), (2, False)] * 2


def test_panels_of_a_sweep_are_complete_before_the_next():
    """Five panels, two at a time: the first sweep has what is left over."""
    strips = [Strip(first=0, rows=2 * MASK), Strip(first=2 * MASK, rows=MASK)]
    found = pieces(strips, 5, 4, 4 * MASK, sweep=2, memory=9)
    assert [(one.panel, one.rows.first // MASK, one.fill) for one in found] == [
        *((0, row, True) for row in range(3)),
        *((panel, row, panel == 1) for row in range(3) for panel in (1, 2)),
        *((panel, row, panel == 3) for row in range(3) for panel in (3, 4))]


def test_strips_that_are_alike_have_the_same_windows():
    """The last one has one row of the first window, and an empty second one."""
    strips = [Strip(first=0, rows=2 * MASK), Strip(first=2 * MASK, rows=1)]
    found = pieces(strips, 3, 4, 4 * MASK, alike=True)
    assert [(one.rows.first, one.rows.rows) for one in found[::3]] == [
        (0, MASK), (MASK, MASK), (2 * MASK, 1), (3 * MASK, 0)]
    assert {one.stride for one in found} == {MASK}


def test_windows_that_are_read_for_each_panel_gain_nothing():
    strip = Strip(first=0, rows=2 * MASK)
    assert pieces([strip], 3, 4, 4 * MASK, sweep=1) == [Piece(panel, strip) for panel in range(3)]


@pytest.mark.parametrize("case", [
    {"results": 1},  # nothing is read twice
    {"entries": 0},  # it fits, or has no place
    {"entries": 4 * MASK - 1},  # less than a word of masks
    {"memory": 1},  # memory is as fast
    {"strip": 9 * MASK},  # more instructions than it is worth
])
def test_none_without_a_gain(case):
    strip = Strip(first=0, rows=case.get("strip", 2 * MASK))
    results = case.get("results", 3)
    assert pieces([strip], results, 4, case.get("entries", 4 * MASK),
                  memory=case.get("memory", 2)) == [
        Piece(panel, strip) for panel in range(results)]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=3), st.integers(1, 5), st.integers(1, 6),
       st.integers(0, 200), st.integers(0, 1), st.integers(0, 7))
def test_every_row_of_every_panel_once(sizes, results, panels, entries, whole, sweep):
    strips = [Strip(first=sum(sizes[:index]), rows=rows) for index, rows in enumerate(sizes)]
    found = pieces(strips, results, panels, entries, whole=whole, sweep=sweep)
    made = [(piece.panel, row) for piece in found
            for row in range(piece.rows.first, piece.rows.first + piece.rows.rows)]
    assert sorted(made) == [(panel, row) for panel in range(results) for row in range(sum(sizes))]
    held = None
    for piece in found:
        assert piece.strip.first <= piece.rows.first
        if piece.window:
            assert piece.rows.rows * panels <= entries
            assert (piece.rows.first - piece.strip.first) % MASK == 0
            held = piece.window if piece.fill else held
            assert held == piece.window
