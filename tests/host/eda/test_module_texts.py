# SPDX-License-Identifier: BSD-2-Clause
"""Modules that are taken out of designs."""

from amaranth.back import rtlil
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.host.eda.module_texts import STUB, ModuleTexts


class _Sum(wiring.Component):
    def __init__(self, width):
        super().__init__({"i": In(width), "o": Out(width)})

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.o.eq(self.o + self.i)
        return m


class _Chain(wiring.Component):
    """Sums of sums."""

    def __init__(self, *widths):
        self._widths = widths
        super().__init__({"i": In(8), "o": Out(8)})

    def elaborate(self, platform):
        m = Module()
        value = self.i
        for number, width in enumerate(self._widths):
            m.submodules[f"sum_{number}"] = part = _Sum(width)
            m.d.comb += part.i.eq(value)
            value = part.o
        m.d.comb += self.o.eq(value)
        return m


def _texts(*widths):
    return ModuleTexts(rtlil.convert(_Chain(*widths), name="chain"))


def test_the_same_hardware_has_the_same_text():
    chain, other = _texts(8, 8, 8, 8), _texts(8, 8)
    assert chain.first == "chain"
    parts = chain.parts("chain")
    assert parts == {f"sum_{number}": f"chain.sum_{number}" for number in range(4)}
    first, second, third, _ = (chain.alone(module) for module in parts.values())
    assert first != second == third  # the order of ports differs
    assert second == other.alone("chain.sum_1")
    assert "src" not in second and "chain" not in second


def test_modules_are_there_once_and_those_that_use_them_follow():
    text = _texts(8, 8, 8, 8).alone("chain")
    modules = [line for line in text.splitlines() if line.startswith("module")]
    assert len(modules) == len(set(modules)) == 3
    assert text.index("cell \\m") > text.index(modules[-1])


def test_numbers_of_nets_make_no_difference():
    """A port that is a part of a signal is called after a net of the whole design."""
    def halves(*before):
        m = Module()
        word, out = Signal(16, name=""), Signal(8)
        for number, width in enumerate(before):
            register = Signal(width, name=f"before_{number}")
            m.d.sync += register.eq(register + 1)
        m.submodules.inner = inner = Module()
        inner.d.sync += out.eq(word[:8] + word[8:])
        m.d.sync += word.eq(word + 1)
        return rtlil.convert(m, name="top", ports=[out])

    texts = [halves(), halves(3, 5)]
    assert "\\port$" in texts[0]
    first, second = (ModuleTexts(text).alone("top.inner") for text in texts)
    assert first == second
    assert "\\port$0" in first
    assert "    connect \\port$0 $" in ModuleTexts(texts[1]).alone("top")


def test_a_part_that_is_left_out_has_ports_only():
    chain = _texts(8, 4)
    text = chain.alone("chain", without={"chain.sum_0", "chain.sum_1"})
    assert text.count(f"module \\{STUB}") == 2
    assert "$add" not in text and "\\o" in text
    assert "$add" in chain.alone("chain", without={"chain.sum_0"})


def test_what_is_inside_of_a_part_that_is_left_out_makes_no_difference():
    class Other(_Sum):
        def elaborate(self, platform):
            m = Module()
            kept = Signal.like(self.i)
            m.d.sync += [kept.eq(self.i), self.o.eq(kept)]
            return m

    def wires(part):
        m = Module()
        m.submodules.part = part
        out = Signal(8)
        m.d.sync += out.eq(part.o)
        texts = ModuleTexts(rtlil.convert(m, name="top", ports=[part.i, out]))
        return texts.alone("top", without={"top.part"})

    assert wires(_Sum(8)) == wires(Other(8))
