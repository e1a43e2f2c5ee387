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


@pytest.mark.parametrize("name", ["plain", "several strips", "strips of blocks", "one core",
                                  "sixteen cores"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


def test_a_row_table_without_an_entry_left_is_too_small():
    found = Vertices.of_layers(range(1, SMALL.row_counts + 1), SMALL, RowTable(SMALL))
    assert [one.entry for one in found] == list(range(SMALL.row_counts))
    with pytest.raises(CapacityError, match="raise row_counts"):
        Vertices.of_layers(range(1, SMALL.row_counts + 2), SMALL, RowTable(SMALL))


def test_levels_of_the_same_name_share_an_entry():
    plain = Vertices.of_layers([500, 40, 5], SMALL, RowTable(SMALL))
    assert plain == Vertices.of_layers([500, 40, 5], SMALL, RowTable(SMALL), ["a", "b", "c"])
    assert [one.entry for one in plain] == [0, 1, 2]
    same = Vertices.of_layers([500] * 3, SMALL, RowTable(SMALL), [0] * 3)
    assert len({one.entry for one in same}) == 1


configs = st.builds(SMALL.replace, dimensions=st.integers(0, 3),
                    accumulator_rows=st.sampled_from([16, 32]),
                    aggregation_rows=st.sampled_from([0, 32, 128]))


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
    assert [strip.rows for strip in strips[:-1]] == [config.strip_rows] * (len(strips) - 1)
    assert 0 < strips[-1].rows <= config.strip_rows
    assert table.rows(vertices.entry) == range(vertices.rows)
    for strip in strips:
        own = range(strip.first, strip.first + strip.rows)
        assert vertices.count_of(strip) == sum(row in own for row in rows)


@given(config=configs, count=st.integers(1, 1000))
def test_blocks_are_all_rows_of_the_strips(config, count):
    """In order, as large as the array's accumulators; of strips that are alike, as many in each."""
    vertices, most = Vertices.of(count, config, RowTable(SMALL)), config.accumulator_rows
    blocks = vertices.blocks()
    assert [row for block in blocks for row in range(block.first, block.first + block.rows)] == \
        list(range(vertices.rows))
    assert all(0 < block.rows <= most and block.first % most == 0 for block in blocks)
    assert blocks == tuple(block for strip in vertices.strips for block in vertices.blocks(strip))
    assert all(vertices.blocks(block) == (block,) for block in blocks)
    alike = vertices.blocks(alike=True)
    assert alike[:len(blocks)] == blocks and not any(block.rows for block in alike[len(blocks):])
    assert len(alike) == len(vertices.strips) * len(vertices.blocks(vertices.strips[0]))


@given(config=configs, counts=st.lists(st.integers(0, 99), min_size=3, max_size=3),
       most=st.lists(st.integers(0, 99), min_size=3, max_size=3),
       levels=st.lists(st.integers(0, 2), max_size=9))
def test_the_row_table_counts_rows_of_a_core(config, counts, most, levels):
    """Each level has one entry, whatever its number of vertices in a sample."""
    table = RowTable(SMALL)
    entries = [table.entry(level, most[level]) for level in levels]
    known = list(dict.fromkeys(levels))
    assert [known[entry] for entry in entries] == levels and len(table) == len(known)
    assert [table.rows(entry) for entry in range(len(known))] == [
        range(most[level]) for level in known]
    for core in range(config.cores):
        assert table.counts(core, config.cores, dict(enumerate(counts))) == [
            min(sum(core_of(rank, config.cores) == core for rank in range(counts[level])),
                most[level]) for level in known]


def test_entries_of_a_full_row_table():
    """What it has is found, what it has not is not; a level is known by its name, or its number."""
    table, size = RowTable(SMALL), SMALL.row_counts
    assert [table.entry(level, 3) for level in range(size)] == list(range(size))
    assert table.entry("another", 3) is None and table.entry(3, 3) == 3
    table = RowTable(SMALL)
    found = [Vertices.of(5, SMALL, table, level).entry for level in (None, "a", 5, "b", "a")]
    assert found == [0, 1, 0, 2, 1]
    assert Vertices.of(5, SMALL, table).strips == (Strip(first=0, rows=5),)


def test_what_had_no_room_is_named_with_the_entries_that_it_takes():
    """Asked again, it takes no more of them; each may stand for several."""
    table, size = RowTable(SMALL), SMALL.row_counts
    table.entry("matrix", 3)
    assert table.has_room(range(size - 1)) and table.slowdown is None
    for _ in range(2):
        assert not table.has_room(["matrix", *range(size)])
        assert table.slowdown.needed == size + 1
    assert not table.has_room("ab", each=size)
    assert table.slowdown.needed == 3 * size + 1
    assert f"raise row_counts to {4 * size}" in str(table.slowdown)
