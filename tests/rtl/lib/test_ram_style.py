# SPDX-License-Identifier: BSD-2-Clause
"""Large memories ask for UltraRAM; small ones, and those that it would waste, do not."""

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.lib.parity_memory import ParityMemory
from hypercast.rtl.lib.ram_style import ram_style
from hypercast.rtl.memory.weight_bank import WeightBank


@pytest.mark.parametrize("words, width, ultra", [
    (4096, 72, True), (16384, 257, True),
    (2048, 36, False),  # two block RAMs
    (2048, 37, True),   # three
    (4096, 19, True), (4096, 18, False),
    (1024, 4096, False),  # too few words to fill one
    (2048, 73, False),    # five block RAMs, but two UltraRAMs
    (2048, 96, True),
])
def test_ultra_ram_for_three_block_rams(words, width, ultra):
    assert bool(ram_style(words, width)) == ultra


@pytest.mark.parametrize("preset, ultra", [("vcu128", True), ("tiny", False)])
def test_weight_banks(preset, ultra):
    text = to_rtlil(WeightBank(PRESETS[preset]), "dut", zeros=False)
    assert ('attribute \\ram_style "ultra"' in text) == ultra


def test_distributed_ram_stays_so():
    text = to_rtlil(ParityMemory(100, 4096, domain="comb"), "dut", zeros=False)
    assert "ram_style" not in text
