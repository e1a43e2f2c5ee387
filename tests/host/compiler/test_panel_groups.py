# SPDX-License-Identifier: BSD-2-Clause
"""Groups of panels: all tiles, once each, and what is said to be in the buffer is there."""

from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.panel_groups import Run, runs_of

TILE = 4


def runs(parts, held, *, cuts=(), memory=2, begin=0, kept=None):
    """The runs with a memory that takes ``memory`` cycles for a tile."""
    return runs_of(parts, cuts, held, TILE,
                   lambda run, reading: begin + run.tiles * (memory if reading else 1),
                   kept=held if kept is None else kept)


def test_groups_take_turns():
    parts = [Run(panel, 0, 5, 20 * panel) for panel in range(4)]
    assert runs(parts, 3, cuts=(0, 3), memory=3) == [
        *(Run(panel, 0, 3, 20 * panel, 0, panel == 0) for panel in range(4)),
        *(Run(panel, 3, 2, 20 * panel + 12, 3, panel == 0) for panel in range(4))]


def test_what_would_be_kept_without_groups_counts():
    """Two right panels, a memory of two cycles: groups of 3 read 5 panels once, not twice."""
    parts = [Run(panel, 0, 5, 20 * panel) for panel in range(2)]
    assert runs(parts, 3, kept=0)[0].start == 0
    assert all(run.start is None for run in runs(parts, 3, kept=5))


def test_nothing_to_gain():
    """Not with a memory that is as fast, nor if beginning takes longer, nor without a place."""
    parts = [Run(panel, 0, 7, 40 * panel) for panel in range(2)]
    plain = [Run(0, 0, 3, 0), Run(0, 3, 4, 12), Run(1, 0, 3, 40), Run(1, 3, 4, 52)]
    assert runs(parts, 3, cuts=(0, 3), memory=1) == plain
    assert runs(parts, 3, cuts=(0, 3), begin=99) == plain
    assert runs(parts, 0, cuts=(0, 3)) == plain


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=5),
       st.integers(1, 6), st.booleans())
def test_every_tile_once(shapes, held, gain):
    parts = [Run(panel, first, count, 100 * panel) for panel, (first, count) in enumerate(shapes)]
    found = runs(parts, held, cuts=(0, held), memory=50 if gain else 1)
    tiles = sorted((run.panel, run.first + tile, run.row + tile * TILE)
                   for run in found for tile in range(run.tiles))
    assert tiles == [(part.panel, part.first + tile, part.row + tile * TILE)
                     for part in parts for tile in range(part.tiles)]
    start, present = None, set()
    for run in found:
        if run.start is not None:
            assert run.start <= run.first and run.first + run.tiles <= run.start + held
            present = present if run.start == start else set()
            start, panels = run.start, set(range(run.first, run.first + run.tiles))
            assert run.fill or panels <= present
            present |= panels
