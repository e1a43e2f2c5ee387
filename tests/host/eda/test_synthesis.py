"""Areas of designs so small that they are known."""

import dataclasses

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.host.benches import area
from hypercast.host.eda.synthesis import FAMILIES, Area, submodules, synthesise
from hypercast.rtl.config import Config
from hypercast.rtl.lib.accumulator_bank import AccumulatorBank

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
                         [("ECP5", 4 * 6, 4), ("7 series", 3 * 4, 2), ("UltraScale+", 2 * 8, 2)])
def test_known_areas(family, ram_luts, block_rams):
    found = synthesise(rtlil.convert(_Samples()), FAMILIES[family])
    assert dataclasses.replace(found, luts=0, small_luts=0, carry_bits=0) == Area(
        flip_flops=8 + 4 * 16, dsps=1, ram_luts=ram_luts, block_rams=block_rams,
        scattered_memories=1)
    assert found.luts >= 16  # the scattered memory's multiplexers


def test_places_of_luts():
    """Two small ones share a place, but not those of carry chains."""
    assert Area(luts=10, small_luts=5, ram_luts=3).lut_places == 11
    assert Area(luts=10, small_luts=5, carry_bits=4).lut_places == 10
    assert Area(luts=10, small_luts=5, carry_bits=8).lut_places == 10


def test_a_part_can_be_left_out():
    m = Module()
    m.submodules.samples = samples = _Samples()
    m.submodules.others = others = _Samples()
    word = Signal(16)
    m.d.sync += word.eq(samples.product + others.product)
    design = rtlil.convert(m, name="top", ports=[word])
    parts = submodules(design, "top")
    alone = synthesise(design, FAMILIES["ECP5"], top="top", without=parts.values())
    assert alone == Area(luts=16, carry_bits=16, flip_flops=16)


def test_refusals():
    with pytest.raises(RuntimeError, match=r"Yosys failed:\n(.|\n)*ERROR: .*nosuch"):
        synthesise("module \\top\n cell \\nosuch \\part\n end\nend\n", FAMILIES["ECP5"])
    m, bit = Module(), Signal()
    m.d.sync += bit.eq(~bit)
    few = dataclasses.replace(FAMILIES["ECP5"], cells={"LUT4": Area(luts=1)})
    with pytest.raises(RuntimeError, match=r"area is not known: TRELLIS_FF;"):
        synthesise(rtlil.convert(m, ports=[bit]), few)


def test_bench(monkeypatch):
    config = Config(dimensions=1, lanes=2, planes=1)
    monkeypatch.setattr(area, "CONFIGS", {"router": config})
    figures = {figure.name: figure for figure in area.run(None, lambda text: None)}
    assert len(figures) == 5 * len(FAMILIES)
    assert all(figure.passed for figure in figures.values())
    for family in FAMILIES:
        assert figures[f"{family}, router: distributed RAM"].value > 0
        # The link's output register is the least there is.
        assert figures[f"{family}, router: flip-flops"].value > config.data_width


def test_ports_that_are_arrays():
    config = Config(lanes=2, accumulator_rows=16)
    found = synthesise(rtlil.convert(AccumulatorBank(config)), FAMILIES["ECP5"])
    assert (found.ram_luts > 0, found.scattered_memories) == (True, 0)
