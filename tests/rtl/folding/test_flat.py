# SPDX-License-Identifier: BSD-2-Clause
"""Flat netlists: what is given to be changed, and that the change comes out."""

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.rtl.folding.flat import convert_changed
from hypercast.rtl.folding.netlist_registers import KINDS


class _Store(wiring.Component):
    """A memory, and a register that an enable and a reset of its own control."""

    x: In(3)
    y: Out(3)

    def __init__(self, init):
        self._init = init
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=3, depth=4, init=self._init)
        read, write, count = memory.read_port(), memory.write_port(), Signal(3)
        m.d.comb += [read.addr.eq(self.x), write.addr.eq(count), write.data.eq(self.x),
                     write.en.eq(self.x[0])]
        with m.If(self.x[2]):
            m.d.sync += count.eq(count + 1)
            with m.If(self.x[1]):
                m.d.sync += count.eq(5)
        m.d.sync += self.y.eq(read.data ^ count)
        return m


class _Whole(wiring.Component):
    """Two of them, of which one memory begins with zeros."""

    x: In(3)
    y: Out(3)
    z: Out(3)

    def elaborate(self, platform):
        m = Module()
        m.submodules.zeros = zeros = _Store([])
        m.submodules.values = values = _Store([0, 0, 6])
        m.d.comb += [zeros.x.eq(self.x), values.x.eq(~self.x), self.y.eq(zeros.y),
                     self.z.eq(values.y)]
        return m


@pytest.fixture(scope="module")
def converted():
    """What was given to be changed, and the text that came of it."""
    given = []

    def change(module):
        given.append({"initial": {
            name: cell["parameters"]["INIT"] for name, cell in module["cells"].items()
            if cell["type"] == "$mem_v2"}, "kinds": [
            cell["type"] for cell in module["cells"].values()], "ports": set(module["ports"])})
        module["ports"]["again"] = dict(module["ports"]["y"])
        module["netnames"]["again"] = {"hide_name": 0, "bits": module["ports"]["y"]["bits"],
                                       "attributes": {}}

    text = convert_changed(_Whole(), "whole", change)
    [found] = given
    return found, text


def test_all_is_in_one_module_of_known_cells(converted):
    given, text = converted
    assert given["ports"] == {"clk", "rst", "x", "y", "z"}
    assert given["kinds"].count("$mem_v2") == 2 and len(given["initial"]) == 2
    assert all(kind.startswith("$") for kind in given["kinds"])
    assert {kind for kind in given["kinds"] if "dff" in kind} <= set(KINDS)
    assert text.count("\nmodule ") == 1 and "\nmodule \\whole\n" in text


def test_zeros_of_memories_are_not_said(converted):
    given, _ = converted
    initial = {name.split(".")[0]: value for name, value in given["initial"].items()}
    assert initial["zeros"] == "x"
    assert initial["values"].rjust(12, "0") == "000110000000"


def test_the_change_is_in_the_text(converted):
    _, text = converted
    assert "output 6 \\again\n" in text
    assert text.count("cell $mem_v2 ") == 2
