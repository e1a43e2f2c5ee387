# SPDX-License-Identifier: BSD-2-Clause
"""Names in Verilog: none has a dollar sign, and different ones stay different."""

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from hypothesis import given
from hypothesis import strategies as st

from hypercast.rtl.export.plain_names import with_plain_names
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.export.verilog import write_verilog
from hypercast.rtl.export.yosys import run_yosys


@pytest.mark.parametrize(("old", "new"), [
    (r"wire \$1 ;", "wire _1;"), (r"\$1  = \$1 [0] & a", "_1 = _1[0] & a"),
    (r"(\port$7$12 , b)", "(port_7_12, b)"), (r"reg \$signal$3[1] ;", "reg _signal_3_1_;"),
    (r"wire \a[0] ; wire \a$0 ;", r"wire \a[0] ; wire a_0;"),
    (r"wire a_1; wire \a$1 ; wire \a$1_ ;", "wire a_1; wire a_1_; wire a_1__;"),
    (r"wire \7$ ; wire \always$ff ; wire \end$ ;", "wire _7_; wire always_ff_; wire end_;"),
    (r"$signed(\$1 )", "$signed(_1)"), ("wire \\$1\n;", "wire _1\n;"),
])
def test_names(old, new):
    assert with_plain_names(old) == new


@given(st.lists(st.from_regex(r"\A[$a-c_][$a-c_0-1.\[\]]{0,4}\Z"), min_size=1, max_size=12),
       st.lists(st.from_regex(r"\A[a-c_][a-c_0-1]{0,3}\Z"), max_size=6))
def test_different_names_stay_different(escaped, plain):
    text = " ; ".join([f"\\{name} " for name in escaped] + plain) + " ;"
    found = [name.strip() for name in with_plain_names(text).split(";")][:-1]
    assert not any("$" in name for name in found)
    # What is escaped without need is the same name.
    assert len({name.removeprefix("\\") for name in found}) == len({*escaped, *plain})
    assert found[len(escaped):] == plain


class _Block(wiring.Component):
    a: In(4)
    o: Out(4)

    def elaborate(self, _):
        m = Module()
        values = [Signal(4, name="value") for _ in range(3)]
        m.d.comb += values[0].eq(self.a + 1)
        m.d.sync += values[1].eq(values[0] ^ (self.a >> 1))
        with m.If(self.a[0] & values[1].any()):
            m.d.sync += values[2].eq(values[1] - 1)
        m.d.comb += self.o.eq(values[2] + values[1])
        return m


def test_the_logic_is_the_same(tmp_path):
    """Yosys proves by induction that outputs are equal, whatever the names inside."""
    design = to_rtlil(_Block(), "dut")
    text = write_verilog(design)
    assert "$" not in text.replace("$signed", "")
    (tmp_path / "dut.v").write_text(text)
    (tmp_path / "dut.il").write_text(design)
    run_yosys("read_rtlil dut.il; proc; rename dut gold; read_verilog dut.v; proc; "
              "rename dut gate; miter -equiv -make_assert -flatten gold gate miter; "
              "hierarchy -top miter; sat -verify -tempinduct -prove-asserts -set-init-zero "
              "-maxsteps 20 miter", tmp_path)
