"""Rows and strips of vertices."""

import pytest

from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.vertices import RowTable, Vertices
from hypercast.rtl.config import Config
from hypercast.rtl.registers import ROW_TABLE
from tests.host.noted_programs import noted, summary

SMALL = Config(dimensions=0, lanes=2, planes=1, accumulator_rows=16)


@pytest.mark.parametrize("name", ["plain", "several strips", "one core", "sixteen cores"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


def test_a_row_table_without_an_entry_for_all_rows_is_too_small():
    """The strips of one level take all entries; another level finds none."""
    table = RowTable()
    first = Vertices.of(16 * ROW_TABLE, SMALL, table, "input")
    assert first.entry == 0 and first.entries[-1] is None
    with pytest.raises(CapacityError, match="raise accumulator_rows"):
        Vertices.of(5, SMALL, table, "output")
