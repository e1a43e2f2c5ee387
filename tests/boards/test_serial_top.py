"""The generic board: that it is complete, and that its clock suits its serial port."""

import pytest
from amaranth.back import rtlil

from hypercast.boards.serial_top import SerialTop
from hypercast.rtl.chip import CONTROL_MODULE, CORE_MODULE
from hypercast.rtl.config import PRESETS
from hypercast.rtl.netlist import parts_to_rtlil
from hypercast.rtl.verilog import write_verilog

TINY = PRESETS["tiny"]


def test_verilog():
    """Clock, reset and two pins; the chip's reset comes from the link."""
    top = rtlil.convert(SerialTop(TINY, 50e6, converted=True), name="board")
    verilog = write_verilog(*parts_to_rtlil(TINY).values(), top)
    [ports] = [line for line in verilog.splitlines() if line.startswith("module board(")]
    names = ports.partition("(")[2].rstrip(");").replace(" ", "").split(",")
    assert sorted(names) == ["clk", "rst", "rx", "tx"]
    assert verilog.count(f"  {CORE_MODULE} ") == TINY.cores
    assert verilog.count(f"  {CONTROL_MODULE} ") == 1


def test_a_clock_too_slow():
    with pytest.raises(ValueError, match=r"at least 4 cycles, not 2\.0; choose a lower baud"):
        SerialTop(TINY, 6e6, baud=3_000_000)
