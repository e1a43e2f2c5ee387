# SPDX-License-Identifier: BSD-2-Clause
"""A chip's area is made of those of its blocks, each as often as it is there."""

import pytest

from hypercast.host.eda import chip_area as module
from hypercast.host.eda.chip_area import ChipArea, chip_area, has_memory_outside
from hypercast.host.eda.chip_blocks import core_blocks
from hypercast.host.eda.families import FAMILIES, Area
from hypercast.rtl.config import PRESETS

TINY = PRESETS["tiny"]


@pytest.fixture(scope="module")
def blocks():
    """Parts of a core whose memory is inside."""
    return core_blocks(TINY, external=False)


def test_sums():
    area = ChipArea(cores=4, blocks={"a": Area(luts=3, dsps=1), "b": Area(luts=4)},
                    control=Area(luts=2, block_rams=0.5))
    assert area.core == Area(luts=7, dsps=1)
    assert area.total == Area(luts=30, dsps=4, block_rams=0.5)
    assert area.total.tally["block RAM"] == 0.5


def test_blocks(blocks):
    """Every block but the channels is there once; those are the same."""
    names = [block.name for block in blocks]
    assert sorted({name for name in names if names.count(name) > 1}) == ["channel"]
    first, second = (block.design for block in blocks if block.name == "channel")
    assert first == second
    assert {"wires of core", "wires of array", "array.array", "router", "vector"} < set(names)
    assert "array" not in names and "core" not in names


def test_every_block_is_counted(blocks, monkeypatch):
    asked = {}

    def cached_areas(designs, family, progress):
        asked[family.title] = set(designs)
        return {design: Area(luts=1) for design in designs}

    monkeypatch.setattr(module, "core_blocks", lambda config, external, bulk: blocks)
    monkeypatch.setattr(module, "control_design", lambda config, bulk: "control")
    monkeypatch.setattr(module, "cached_areas", cached_areas)
    area = chip_area(TINY, "ultrascale+", external=False)
    assert area.blocks.keys() == {block.name for block in blocks}
    assert area.core.luts == len(blocks) and area.blocks["channel"].luts == 2
    assert (area.cores, area.control) == (2, Area(luts=1))
    # Yosys knows more of the older family's DSP slices, and so has the array for that.
    [array] = asked["7 series"]
    assert array == next(block.design for block in blocks if block.name == "array.array")
    assert array not in asked["UltraScale+"] and "control" in asked["UltraScale+"]
    assert chip_area(TINY, "ecp5", external=False) == area
    assert asked["ECP5"] == asked["UltraScale+"] | {array}


def test_memory():
    assert has_memory_outside(PRESETS["vcu128"]) and not has_memory_outside(TINY)


def test_families():
    assert all(FAMILIES[family.systolic].cells for family in FAMILIES.values() if family.systolic)
