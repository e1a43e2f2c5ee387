# SPDX-License-Identifier: BSD-2-Clause
"""Rows and strips of vertices."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.vertices import RowTable, Strip, Vertices, strips_of
from hypercast.rtl.config import Config
from hypercast.rtl.placement import core_of, row_of
from tests.host.noted_programs import noted, summary

SMALL = Config(dimensions=0, lanes=2, planes=1, accumulator_rows=16)


@pytest.mark.parametrize("name", ["plain", "several strips", "one core", "sixteen cores"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


def test_a_row_table_without_an_entry_for_all_rows_is_too_small():
    """The strips of one level take all entries; another level finds none."""
    table = RowTable(SMALL)
    first = Vertices.of(16 * SMALL.row_counts, SMALL, table, "input")
    assert first.entry == 0 and first.entries[-1] is None
    with pytest.raises(CapacityError, match="raise row_counts or accumulator_rows"):
        Vertices.of(5, SMALL, table, "output")


def test_strips_leave_entries_for_all_rows_of_other_layers():
    """However many there are of the input."""
    many = 16 * SMALL.row_counts
    found = Vertices.of_layers([many, 40, 5], SMALL, RowTable(SMALL))
    assert [one.entry for one in found] == [0, 1, 2]
    assert found[0].entries[0] is not None and found[0].entries[-1] is None
    assert found == tuple(Vertices.of_layers([many, 40, 5], SMALL, RowTable(SMALL), ["a", "b", "c"]))
    same = Vertices.of_layers([many] * 3, SMALL, RowTable(SMALL), [0] * 3)
    assert len({one.entry for one in same}) == 1
    with pytest.raises(CapacityError, match="raise row_counts or accumulator_rows"):
        Vertices.of_layers(range(1, SMALL.row_counts + 2), SMALL, RowTable(SMALL))


configs = st.builds(SMALL.replace, dimensions=st.integers(0, 3),
                    accumulator_rows=st.sampled_from([16, 32]))


@given(config=configs, count=st.integers(0, 300))
def test_strips_are_all_rows_of_the_largest_core(config, count):
    """In order, as large as they can be; a row at least, and every vertex in one of them."""
    table = RowTable(SMALL)
    vertices = Vertices.of(count, config, table)
    strips = strips_of(count, config)
    assert vertices.strips == strips and vertices.cores == config.cores
    assert [row for strip in strips for row in range(strip.first, strip.first + strip.rows)] == \
        list(range(vertices.rows))
    rows = [row_of(rank, config.cores) for rank in range(count)]
    assert vertices.rows == max([1, *(row + 1 for row in rows)])
    assert [strip.rows for strip in strips[:-1]] == [config.accumulator_rows] * (len(strips) - 1)
    assert 0 < strips[-1].rows <= config.accumulator_rows
    assert table.rows(vertices.entry) == range(vertices.rows)
    for strip, entry in zip(strips, vertices.entries, strict=True):
        own = range(strip.first, strip.first + strip.rows)
        assert vertices.count_of(strip) == sum(row in own for row in rows)
        assert entry is None or table.rows(entry) == own
    assert vertices.entries.index(None) == SMALL.row_counts - 1 if None in vertices.entries else True


@given(config=configs, counts=st.lists(st.integers(0, 99), min_size=2, max_size=2),
       ranges=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9), st.integers(0, 9)),
                       max_size=9))
def test_the_row_table_counts_rows_of_a_core(config, counts, ranges):
    """Each range has one entry, whatever the level's number of vertices in a sample."""
    table = RowTable(SMALL)
    entries = [table.entry(*one) for one in ranges]
    known = list(dict.fromkeys(ranges))
    assert [known[entry] for entry in entries] == ranges
    assert [table.entry(*one) for one in known] == list(range(len(known)))
    for core in range(config.cores):
        assert table.counts(core, config.cores, dict(enumerate(counts))) == [
            sum(core_of(rank, config.cores) == core
                and first <= row_of(rank, config.cores) < first + rows
                for rank in range(counts[level])) for level, first, rows in known]


def test_entries_of_a_full_row_table():
    """What it has is found, what it has not is not; a level is known by its name, or its number."""
    table = RowTable(SMALL)
    assert [table.entry("level", 0, rows) for rows in range(SMALL.row_counts)] == list(range(SMALL.row_counts))
    assert table.entry("level", 0, SMALL.row_counts) is None and table.entry("level", 0, 3) == 3
    table = RowTable(SMALL)
    found = [Vertices.of(5, SMALL, table, level).entry for level in (None, "a", 5, "b", "a")]
    assert found == [0, 1, 0, 2, 1]
    assert Vertices.of(5, SMALL, table).strips == (Strip(first=0, rows=5),)
