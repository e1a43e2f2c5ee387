# SPDX-License-Identifier: BSD-2-Clause
"""Areas of designs so small that they are known."""

import dataclasses

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.host.eda.families import FAMILIES, Area
from hypercast.host.eda.module_texts import ModuleTexts
from hypercast.host.eda.synthesis import area_of, count_cells
from hypercast.rtl.config import Config
from hypercast.rtl.lib.accumulator_bank import AccumulatorBank
from hypercast.rtl.lib.parity_memory import ParityMemory


def synthesise(design, family):
    """The area of a design, flattened and out of context."""
    texts = ModuleTexts(design)
    [cells] = count_cells([texts.alone(texts.first)], family)
    return area_of(cells, family)


_CONTENT = [40503 * row % 2**16 for row in range(4096)]


class _Samples(wiring.Component):
    """A counter, a multiplier, and memories for each kind of RAM, and for none."""

    #: Depth, domain of the read port, and number of write ports.
    MEMORIES = {"small": (16, "comb", 1), "large": (4096, "sync", 0), "scattered": (4, "comb", 2)}

    def __init__(self):
        super().__init__({
            "enable": In(2), "address": In(12), "word": In(16), "factor": In(16),
            "count": Out(8), "product": Out(32), **dict.fromkeys(self.MEMORIES, Out(16))})

    def elaborate(self, platform):
        m = Module()
        with m.If(self.enable[0]):
            m.d.sync += self.count.eq(self.count + 1)
        m.d.comb += self.product.eq(self.factor * self.word)
        for name, (depth, domain, writers) in self.MEMORIES.items():
            m.submodules[name] = memory = Memory(shape=16, depth=depth, init=_CONTENT[:depth])
            read = memory.read_port(domain=domain)
            m.d.comb += [read.addr.eq(self.factor), getattr(self, name).eq(read.data)]
            for index in range(writers):
                write = memory.write_port()
                m.d.comb += [write.en.eq(self.enable[index]),
                             write.addr.eq(self.address >> index), write.data.eq(self.word)]
        return m


@pytest.mark.parametrize(("family", "ram_luts", "block_rams"),
                         [("ecp5", 4 * 6, 4), ("ultrascale+", 2 * 8, 2),
                          pytest.param("7series", 3 * 4, 2, marks=pytest.mark.slow)])
def test_known_areas(family, ram_luts, block_rams):
    found = synthesise(rtlil.convert(_Samples()), FAMILIES[family])
    assert dataclasses.replace(found, luts=0, shared_luts=0, carry_bits=0) == Area(
        flip_flops=8 + 4 * 16, dsps=1, ram_luts=ram_luts,
        block_rams=block_rams, scattered_memories=1)
    assert found.luts >= 16  # the scattered memory's multiplexers


def test_places_of_luts():
    """Two small ones share a place, but not those of carry chains, of the same design."""
    amd = FAMILIES["ultrascale+"]
    few = area_of({"LUT6": 5, "LUT3": 2, "INV": 3, "SRL16E": 3}, amd)
    chain = area_of({"LUT6": 5, "LUT2": 5, "CARRY4": 1, "CARRY8": 1}, amd)
    assert (few.lut_places, chain.lut_places) == (11, 10)
    assert area_of({"LUT4": 5, "LUT1": 5, "CARRY4": 1}, amd).lut_places == 10
    assert (few + chain * 2).lut_places == 31
    assert area_of({"LUT4": 5}, FAMILIES["ecp5"]).lut_places == 5


def test_a_part_can_be_left_out():
    """And several designs are synthesised at once, each as if it were alone."""
    m = Module()
    m.submodules.samples = samples = _Samples()
    m.submodules.others = others = _Samples()
    word = Signal(16)
    m.d.sync += word.eq(samples.product + others.product)
    texts = ModuleTexts(rtlil.convert(m, name="top", ports=[word]))
    parts = texts.parts("top")
    designs = [texts.alone("top", without=set(parts.values())),
               ModuleTexts(rtlil.convert(_Samples())).alone("top")]
    alone, others = (area_of(cells, FAMILIES["ecp5"])
                     for cells in count_cells(designs, FAMILIES["ecp5"]))
    assert alone == Area(luts=16, carry_bits=16, flip_flops=16)
    assert (others.dsps, others.scattered_memories, others.block_rams) == (1, 1, 4)


def test_refusals():
    with pytest.raises(RuntimeError, match=r"Yosys failed:\n(.|\n)*ERROR: .*nosuch"):
        synthesise("module \\some\n  cell \\nosuch \\part\n  end\nend\n", FAMILIES["ecp5"])
    m, bit = Module(), Signal()
    m.d.sync += bit.eq(~bit)
    few = dataclasses.replace(FAMILIES["ecp5"], cells={"LUT4": Area(luts=1)})
    with pytest.raises(RuntimeError, match=r"area is not known: TRELLIS_FF;"):
        synthesise(rtlil.convert(m, ports=[bit]), few)


def test_ports_that_are_arrays():
    config = Config(lanes=2, accumulator_rows=16)
    found = synthesise(rtlil.convert(AccumulatorBank(config)), FAMILIES["ecp5"])
    assert (found.ram_luts > 0, found.scattered_memories) == (True, 0)


@pytest.mark.parametrize("family, kind", [
    pytest.param("ecp5", "block_rams", marks=pytest.mark.slow), ("ultrascale+", "ultra_rams")])
def test_ultra_ram_where_there_is_some(family, kind):
    text = rtlil.convert(ParityMemory(71, 2048))
    assert 'ram_style "ultra"' in text
    found = synthesise(text, FAMILIES[family])
    assert getattr(found, kind) > 0
    assert not found.scattered_memories and not (found.block_rams and found.ultra_rams)
