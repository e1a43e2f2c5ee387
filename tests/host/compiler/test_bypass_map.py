# SPDX-License-Identifier: BSD-2-Clause
"""What bypasses memory, and where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.bypass_map import BypassMap
from hypercast.rtl.isa import Bypass
from tests.host.models import SMALL
from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("name", [
    "plain", "nothing bypassed", "two bypassed panels", "residual"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


@given(st.lists(st.tuples(st.sampled_from([Bypass.RIGHT, Bypass.SEND]), st.integers(1, 5),
                          st.integers(1, 20)), max_size=9))
def test_places_of_a_memory_follow_each_other(wanted):
    """In the order asked for; what does not fit has none, and takes nothing from what follows."""
    config = SMALL.replace(bypass_rows=32)
    named = [(target, f"T{number}", panels, rows)
             for number, (target, panels, rows) in enumerate(wanted)]
    places, used = BypassMap(config, named), {Bypass.RIGHT: 0, Bypass.SEND: 0}
    for target, name, panels, rows in named:
        found = [places.base(target, name, panel) for panel in range(panels)]
        if used[target] + panels * rows > 32:
            assert set(found) == {None}
            continue
        assert found == [used[target] + panel * rows for panel in range(panels)]
        used[target] += panels * rows
        other = Bypass.SEND if target == Bypass.RIGHT else Bypass.RIGHT
        assert places.base(other, name, 0) is None
