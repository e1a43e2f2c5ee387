# SPDX-License-Identifier: BSD-2-Clause
"""How memories begin in Verilog: with zeros by a loop, and UltraRAM in simulations only."""

import json
import re
import subprocess

import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.export.verilog import write_verilog
from hypercast.rtl.export.yosys import run_yosys
from hypercast.rtl.lib.accumulator_memory import AccumulatorMemory
from tests.cocotb.benches import require

#: Depth, first contents and attributes of memories that are read at one address.
MEMORIES = {"zeros": (5, [], {}), "counted": (4, [1, 2, 3, 4], {}),
            "ultra": (8, [], {"ram_style": "ultra"}), "block": (8, [], {"ram_style": "block"}),
            "partly": (4, [0, 0, 7], {})}


class Memories(wiring.Component):
    """All of them; each word that is read is followed by that of the next."""

    address: In(2)
    o: Out(8 * len(MEMORIES))

    def elaborate(self, platform):
        m = Module()
        words = []
        for name, (depth, init, attributes) in MEMORIES.items():
            m.submodules[name] = memory = Memory(
                shape=8, depth=depth, init=init, attrs=attributes)
            read, write = memory.read_port(), memory.write_port()
            m.d.comb += [read.en.eq(1), read.addr.eq(self.address), write.en.eq(self.address == 3),
                         write.addr.eq(1), write.data.eq(9)]
            words.append(read.data)
        m.d.comb += self.o.eq(Cat(words))
        return m


@pytest.fixture(scope="module")
def text():
    return write_verilog(to_rtlil(Memories(), "dut"))


def test_text(text):
    loops = [name for name in MEMORIES if f"clear_{name} " in text]
    assert loops == ["zeros", "ultra", "block"]
    assert "counted[2] = 8'h03;" in text and "partly[2] = 8'h07;" in text
    assert '(* ram_style = "block" *)' in text
    assert text.count("`ifndef SYNTHESIS\n  initial begin") == 1
    assert text.index('ram_style = "ultra"') < text.index("`ifndef SYNTHESIS\n  initial begin")


@pytest.mark.parametrize("standard", ["2005", "2012"])
def test_contents(standard, text, tmp_path):
    require("icarus")
    (tmp_path / "dut.v").write_text(text + """
module bench;
  reg clk = 0;
  wire [39:0] o;
  dut dut(.clk(clk), .rst(1'b0), .address(2'd2), .o(o));
  initial begin
    #1 clk = 1;
    #1 $display("%h", o);
  end
endmodule
""")
    subprocess.run(["iverilog", f"-g{standard}", "-s", "bench", "-o", "bench", "dut.v"],
                   cwd=tmp_path, check=True)
    found = subprocess.run(["vvp", "-n", "bench"], cwd=tmp_path, check=True, capture_output=True,
                           text=True).stdout
    assert found == "0700000300\n"


def test_sources(text, tmp_path):
    """Attributes lead to files of the package and of Amaranth, wherever those are."""
    assert "src" not in text
    found = write_verilog(to_rtlil(AccumulatorMemory(PRESETS["tiny"], 16), "dut"), sources=True)
    sources = {source.rpartition(":")[0] for sources in re.findall(
        r'\(\* src = "([^"]*)" \*\)', found) for source in sources.split("|")}
    assert "rtl/lib/accumulator_memory.py" in sources
    assert all(source.startswith(("rtl/", "amaranth/")) for source in sources)
    (tmp_path / "dut.v").write_text(found)
    run_yosys("read_verilog dut.v; hierarchy -check -top dut", tmp_path)


@pytest.mark.slow
def test_ultra_ram(tmp_path):
    """Two of them hold 2048 rows of 96 bits, and no block RAM does."""
    (tmp_path / "dut.v").write_text(write_verilog(
        to_rtlil(AccumulatorMemory(PRESETS["tiny"], 2048), "dut")))
    run_yosys("read_verilog dut.v; synth_xilinx -family xcup -uram -noiopad -noclkbuf -top dut; "
              "tee -o cells.json stat -json", tmp_path)
    cells = json.loads((tmp_path / "cells.json").read_text())["design"]["num_cells_by_type"]
    assert cells["URAM288"] == 2
    assert not [name for name in cells if name.startswith("RAM")]


@pytest.mark.parametrize(("command", "rams"), [
    ("synth_xilinx -noiopad -noclkbuf", {"RAMB36E1", "RAMB18E1"}),
    ("synth_ecp5", {"DP16KD", "PDPW16KD"})])
def test_the_same_rows_for_an_fpga_without_ultra_ram(command, rams, tmp_path):
    text = write_verilog(to_rtlil(AccumulatorMemory(PRESETS["tiny"], 2048), "dut"),
                         ultra_ram=False)
    assert "ultra" not in text
    (tmp_path / "dut.v").write_text(text)
    run_yosys(f"read_verilog dut.v; {command} -top dut; tee -o cells.json stat -json", tmp_path)
    cells = json.loads((tmp_path / "cells.json").read_text())["design"]["num_cells_by_type"]
    assert rams & cells.keys()
