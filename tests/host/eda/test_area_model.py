# SPDX-License-Identifier: BSD-2-Clause
"""Estimates: interpolated ratios, folded chips, memories of another size."""

import pytest

from hypercast.host.eda import area_model
from hypercast.host.eda.area_model import (
    CONTROL,
    FOLDED_CORE,
    chip_counts,
    estimated_area,
    fitted_families,
    folded_counts,
    resize_memories,
)
from hypercast.host.eda.chip_blocks import core_blocks
from hypercast.host.eda.netlist_counts import Counts, NetlistMemory
from hypercast.rtl.config import PRESETS

TINY = PRESETS["tiny"]


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    """A cache of its own."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("HYPERCAST_CACHE", str(tmp_path_factory.mktemp("cache")))
        area_model._count_chip.cache_clear()
        yield
    area_model._count_chip.cache_clear()


def test_ratios_are_interpolated():
    known = [[9.0, 19.0], [99.0, 99.0]]  # twice as much, and as much
    assert area_model._interpolate(9, known) == pytest.approx(19)
    assert area_model._interpolate(99, known) == pytest.approx(99)
    assert area_model._interpolate(0, known) == pytest.approx(1)  # the nearest ratio
    assert area_model._interpolate(999, known) == pytest.approx(999)
    middle = area_model._interpolate(30.6227766, known)
    assert middle == pytest.approx(31.6227766 * 2**0.5 - 1)
    assert area_model._interpolate(7, []) == 7


def test_folded_chips_have_deeper_memories():
    counts = {"a": Counts(memories=[NetlistMemory(8, 4, False), NetlistMemory(1, 4, False)]),
              "b": Counts(memories=[NetlistMemory(64, 8, True)]), CONTROL: Counts()}
    counts["a"].bits.update(register=10, add=3)
    found = folded_counts(counts, 16)
    assert found.keys() == {FOLDED_CORE, CONTROL}
    core = found[FOLDED_CORE]
    assert core.memories == [NetlistMemory(128, 4, True), NetlistMemory(1024, 8, True),
                             NetlistMemory(16, 10, True, "distributed")]
    assert (core.bits["add"], core.bits["register"]) == (3, 0)


@pytest.mark.slow
def test_memories_take_another_size(monkeypatch):
    """As they have when that configuration is converted; and a conversion is kept."""
    sizes = {"operand_words": 512, "accumulator_rows": 256, "bypass_rows": 32, "edge_buffer": 8,
             "weight_rows": 1024, "channel_words": 8192}
    before = chip_counts(TINY, external=False)
    changed = resize_memories(before, TINY, TINY.replace(**sizes), external=False)
    converted = chip_counts(TINY.replace(**sizes), external=False)
    for name in ("receiver", "weights", "channel", "array.accumulators", "sender"):
        expected, found = (sorted((one.words, one.width, one.style) for one in counts[name].memories
                                  if one.words >= 32) for counts in (converted, changed))
        assert found == expected, name
    assert {one.style for one in changed["channel"].memories} == {"ultra"}
    assert before == chip_counts(TINY, external=False)
    monkeypatch.setattr(area_model, "core_blocks", None)
    area_model._count_chip.cache_clear()
    assert before == chip_counts(TINY, external=False)


def test_estimates():
    assert {"ecp5", "ultrascale+"} <= set(fitted_families())
    found = estimated_area(TINY, "ultrascale+", external=False)
    names = {block.name for block in core_blocks(TINY, external=False)}
    assert (found.cores, found.blocks.keys()) == (2, names)
    assert 10_000 < found.core.lut_places < 30_000
    folded = estimated_area(TINY, "ecp5", external=False, folded=True)
    assert (folded.cores, *folded.blocks) == (1, FOLDED_CORE)
    with pytest.raises(ValueError, match="no estimate for 7series, only for"):
        estimated_area(TINY, "7series", external=False)
