# SPDX-License-Identifier: BSD-2-Clause
"""Memories as Yosys maps them: each case was synthesised."""

import pytest

from hypercast.host.eda.families import Area
from hypercast.host.eda.memory_mapping import RAMS
from hypercast.host.eda.netlist_counts import NetlistMemory


@pytest.mark.parametrize(("family", "memory", "area"), [
    # Accumulators, the weight bank, the operand buffer and the program of preset vcu128.
    ("ultrascale+", NetlistMemory(1024, 768, True), Area(block_rams=21.5)),
    ("ultrascale+", NetlistMemory(2048, 768, True, "ultra"), Area(ultra_rams=11)),
    ("ultrascale+", NetlistMemory(8192, 257, True), Area(ultra_rams=8)),
    ("ultrascale+", NetlistMemory(4096, 363, True), Area(ultra_rams=6)),
    # Words of which several fit one of UltraRAM.
    ("ultrascale+", NetlistMemory(8192, 33, True, "ultra"), Area(ultra_rams=1)),
    ("ultrascale+", NetlistMemory(16384, 18, True, "ultra"), Area(ultra_rams=1)),
    ("ultrascale+", NetlistMemory(8192, 40, True, "ultra"), Area(ultra_rams=2)),
    # Rows that wait to be sent.
    ("ultrascale+", NetlistMemory(8, 768, True), Area(ram_luts=440, flip_flops=768)),
    ("7series", NetlistMemory(4096, 16, True), Area(block_rams=2)),
    ("7series", NetlistMemory(16, 16, False), Area(ram_luts=12)),
    ("ecp5", NetlistMemory(16, 16, False), Area(ram_luts=24)),
    ("ecp5", NetlistMemory(4096, 16, True), Area(block_rams=4)),
    # Accumulators of preset tiny: as dear as distributed RAM, but for what chooses its outputs.
    ("ecp5", NetlistMemory(64, 96, True), Area(block_rams=3)),
])
def test_known_memories(family, memory, area):
    assert RAMS[family].area(memory) == area


def test_read_ports_and_tables():
    rams = RAMS["ecp5"]
    assert rams.area(NetlistMemory(16, 4, False, reads=2)) == Area(ram_luts=12)
    assert rams.area(NetlistMemory(64, 16, True, writable=False)) == Area(luts=64, flip_flops=16)
    assert rams.area(NetlistMemory(2048, 18, True, writable=False)) == Area(block_rams=2)
    assert rams.area(NetlistMemory(16, 40, True, "distributed")).ram_luts == 60
