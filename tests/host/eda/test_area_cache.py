# SPDX-License-Identifier: BSD-2-Clause
"""Areas are synthesised once, and again when what was kept is damaged."""

import pytest

from hypercast.host.eda import area_cache
from hypercast.host.eda.area_cache import cached_areas
from hypercast.host.eda.families import FAMILIES, Area

FAMILY = FAMILIES["ecp5"]


@pytest.fixture
def synthesised(monkeypatch, tmp_path):
    """Designs that were synthesised, in order; a design of n characters has n LUTs."""
    calls = []

    def count_cells(designs, family):
        calls.extend(designs)
        return [{"LUT4": len(design)} for design in designs]

    monkeypatch.setattr(area_cache, "count_cells", count_cells)
    monkeypatch.setenv("HYPERCAST_CACHE", str(tmp_path / "cache"))
    return calls


def _areas(*designs, family=FAMILY):
    return cached_areas(designs, family, lambda text: None)


def test_once(synthesised, tmp_path):
    assert _areas("a", "bc") == {"a": Area(luts=1), "bc": Area(luts=2)}
    assert _areas("bc", "def", "a")["def"] == Area(luts=3)
    assert sorted(synthesised) == ["a", "bc", "def"]
    assert len([path for path in (tmp_path / "cache/area").iterdir() if path.is_dir()]) == 3


def test_another_family_or_yosys_is_another_entry(synthesised, monkeypatch):
    _areas("a")
    monkeypatch.setattr(area_cache.importlib.metadata, "version", lambda name: "0")
    _areas("a")
    _areas("a", family=FAMILIES["7series"])
    assert synthesised == ["a"] * 3


@pytest.mark.parametrize("damage", [
    lambda text: text[:-5], lambda text: "", lambda text: text.replace(b"1", b"2", 1),
    lambda text: b"[]", lambda text: b"\xff\xff", lambda text: b'{"cells": {"LUT4": 7}}'])
def test_a_damaged_entry_is_made_again(synthesised, tmp_path, damage):
    _areas("a")
    [path] = (tmp_path / "cache/area").rglob("cells.json")
    whole = path.read_bytes()
    path.write_bytes(damage(whole) or b"")
    assert _areas("a") == {"a": Area(luts=1)}
    assert synthesised == ["a", "a"]
    assert path.read_bytes() == whole


def test_what_is_counted_newly_needs_no_synthesis(synthesised, monkeypatch):
    """Cells are kept, not what they take."""
    _areas("a")
    monkeypatch.setitem(FAMILY.cells, "LUT4", Area(luts=5))
    assert _areas("a") == {"a": Area(luts=5)}
    assert synthesised == ["a"]
