# SPDX-License-Identifier: BSD-2-Clause
"""Names of signals from bytecode of Python 3.13, whatever version runs the test."""

import sys
from types import SimpleNamespace

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.export import variable_names
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.export.variable_names import stored_name

OPCODES = ["CACHE", "CALL", "EXTENDED_ARG", "LOAD_CONST", "LOAD_FAST_LOAD_FAST", "LOAD_GLOBAL",
           "STORE_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "POP_TOP"]


@pytest.mark.parametrize(("instructions", "name"), [
    ([("CALL", 1), ("CACHE", 0), ("STORE_FAST", 3)], "v3"),
    ([("CALL", 1), ("STORE_FAST_LOAD_FAST", 0x21)], "v2"),
    ([("CALL", 1), ("CACHE", 0), ("STORE_FAST_STORE_FAST", 0x43)], "v4"),
    ([("CALL", 1), ("LOAD_FAST_LOAD_FAST", 0x12), ("STORE_FAST", 5)], "v5"),
    ([("CALL", 1), ("EXTENDED_ARG", 1), ("STORE_FAST", 2)], "v258"),
    ([("CALL", 1), ("EXTENDED_ARG", 1), ("LOAD_GLOBAL", 2), ("STORE_FAST_LOAD_FAST", 0x10)], "v1"),
    ([("CALL", 1), ("LOAD_CONST", 0), ("STORE_FAST", 1)], None),
    ([("POP_TOP", 0), ("STORE_FAST", 1)], None),
    ([("CALL", 1), ("CACHE", 0)], None),
])
def test_stored_name(instructions, name, monkeypatch):
    monkeypatch.setattr(variable_names, "opname", OPCODES)
    code = SimpleNamespace(
        co_code=bytes(one for opcode, number in instructions
                      for one in (OPCODES.index(opcode), number)),
        _varname_from_oparg=lambda number: f"v{number}")
    assert stored_name(code, 0) == name


class _Block(wiring.Component):
    x: In(3)
    y: Out(3)

    def elaborate(self, _):
        m = Module()
        first = Signal(3)
        second = Signal(len(first))
        third, fourth = Signal(5), Signal(6)
        m.d.sync += [first.eq(self.x), second.eq(first), third.eq(second), fourth.eq(third)]
        m.d.comb += self.y.eq(fourth)
        return m


def test_names_are_the_same_in_all_versions():
    text = to_rtlil(_Block(), "block")
    assert all(f" \\{name}\n" in text for name in ("first", "second", "fourth"))
    assert " \\third\n" not in text


@pytest.mark.skipif(sys.version_info < (3, 13), reason="Amaranth itself finds the names")
def test_amaranth_is_as_before_after_a_conversion():
    from amaranth import tracer
    plain = tracer.get_var_name
    to_rtlil(_Block(), "block")
    assert tracer.get_var_name is plain
