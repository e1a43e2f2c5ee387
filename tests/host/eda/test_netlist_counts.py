# SPDX-License-Identifier: BSD-2-Clause
"""Bits of operations, multipliers and memories of designs so small that they are known."""

from amaranth.back import rtlil
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory as AmaranthMemory
from amaranth.lib.wiring import In, Out

from hypercast.host.eda.module_texts import ModuleTexts
from hypercast.host.eda.netlist_counts import Counts, NetlistMemory, count


class _Samples(wiring.Component):
    def __init__(self):
        super().__init__({
            "enable": In(1), "address": In(5), "word": In(16), "factor": In(12), "kept": Out(16),
            "product": Out(28), "chosen": Out(16), "read": Out(8), "table": Out(4)})

    def elaborate(self, platform):
        m = Module()
        with m.If(self.enable):
            m.d.sync += self.kept.eq(self.kept + self.word)
        with m.If(self.enable):
            m.d.comb += self.chosen.eq(self.word)
        m.d.comb += self.product.eq(self.word * self.factor)
        m.submodules.memory = memory = AmaranthMemory(shape=8, depth=32, init=[],
                                                      attrs={"ram_style": "block"})
        read, write = memory.read_port(), memory.write_port()
        m.submodules.rom = rom = AmaranthMemory(shape=4, depth=32, init=range(16))
        look = rom.read_port(domain="comb")
        m.d.comb += [
            read.addr.eq(self.address), write.addr.eq(self.address), write.data.eq(self.word),
            write.en.eq(self.enable), look.addr.eq(self.address), self.read.eq(read.data),
            self.table.eq(Mux(self.word == self.factor, look.data, 0))]
        return m


def _counts(component):
    texts = ModuleTexts(rtlil.convert(component))
    return count(texts.alone(texts.first))


def test_samples():
    found = _counts(_Samples())
    bits = found.bits
    assert (bits["register"], bits["add"], bits["mux"], bits["equal"]) == (16, 17, 4, 16)
    assert (bits["hold"], bits["choice"]) == (16, 16)
    assert found.products == [(16, 12)]
    assert sorted(found.memories, key=lambda one: one.width) == [
        NetlistMemory(words=32, width=4, registered=False, writable=False),
        NetlistMemory(words=32, width=8, registered=True, style="block")]


def test_what_is_there_twice_counts_twice():
    m = Module()
    word = Signal(28)
    for name in "ab":
        m.submodules[name] = one = _Samples()
        m.d.comb += [one.enable.eq(1), one.word.eq(word), one.factor.eq(word)]
    texts = ModuleTexts(rtlil.convert(m, name="top", ports=[word]))
    whole = count(texts.alone("top"))
    [part] = {str(count(texts.alone(f"top.{name}"))) for name in "ab"}
    one = count(texts.alone("top.a"))
    assert str(one) == part
    assert whole.bits == one.bits + one.bits
    assert whole.memories == one.memories * 2


def test_json():
    found = _counts(_Samples())
    assert Counts.of(found.to_dict()) == found
