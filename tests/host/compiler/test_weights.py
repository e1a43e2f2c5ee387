# SPDX-License-Identifier: BSD-2-Clause
"""Where parameters lie, and the parts of panels that are reduced together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.memory_map import Region
from hypercast.host.compiler.reduction import Portion
from hypercast.host.compiler.weights import Weights, first_panels
from tests.host.models import SMALL
from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("name", ["plain", "two bypassed panels"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


def test_parts_of_panels():
    """Rows 3 to 8 lie in three panels of four rows."""
    weights = Weights(name="W1", shape=(4, 6), base=0, height=4, panels=3, state=None, portions=())
    assert list(weights.parts(range(3, 9))) == [(0, range(3, 4)), (1, range(4)), (2, range(1))]
    assert list(weights.parts(range(4, 8))) == [(1, range(4))]
    assert (weights.rows, weights.state_values) == (12, 2)
    adam = Weights(**{**vars(weights), "adam": True})
    assert adam.state_values == 3
    assert Weights(**{**vars(adam), "kept": True}).state_values == 5


def test_first_panels_of_parts():
    """Portions that begin in the middle of a panel, and in the next one."""
    state = Region(name="state", channel=1, address=0, words=0)
    parts = [range(0, 8), range(8, 14), range(14, 30)]
    weights = Weights(name="W1", shape=(10, 6), base=0, height=10, panels=3, state=state,
                      portions=tuple(Portion(rows=rows, reduction_group=0, first_row=rows.start)
                                   for rows in parts))
    assert [list(weights.parts(rows)) for rows in parts] == [
        [(0, range(8))],
        [(0, range(8, 10)), (1, range(4))],
        [(1, range(4, 10)), (2, range(10))]]
    assert first_panels([weights], SMALL) == [0, 2, 4]


@given(height=st.integers(1, 9), panels=st.integers(1, 5), data=st.data())
def test_parts_are_the_rows_panel_by_panel(height, panels, data):
    weights = Weights(name="W1", shape=(height, 2 * panels), base=0, height=height, panels=panels,
                      state=None, portions=())
    first = data.draw(st.integers(0, height * panels - 1))
    rows = range(first, data.draw(st.integers(first + 1, height * panels)))
    parts = list(weights.parts(rows))
    assert [panel * height + row for panel, part in parts for row in part] == list(rows)
    assert all(part and part.stop <= height for _, part in parts)
    numbers = [panel for panel, _ in parts]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
