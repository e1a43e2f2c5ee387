# SPDX-License-Identifier: BSD-2-Clause
"""The exported top, around a chip that only answers: reset, names, addresses."""

import os
import re
import subprocess

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.export_options import CHIP_MODULE, ExportOptions
from hypercast.rtl.export.interfaces import interfaces, ports
from hypercast.rtl.export.top import top_verilog
from hypercast.sim.simulators import verilator_root
from tests.cocotb.benches import require

CONFIG = PRESETS["tiny"]

#: Stands in for the chip: always ready, always valid, and asks for byte 8 of its channels.
_STUB = """
module {name}({ports});
  input clk, rst;
{declarations}
{values}
endmodule
"""
#: Counts cycles of reset, which falls between two edges of the clock and rises right after one.
_BENCH = """
module bench;
  reg clock = 0, reset = 0;
  integer length = 0;
  {top} dut(.aclk(clock), .aresetn(reset), .s_axi_awvalid(1'b1){base});
  always #5 clock = ~clock;
  always @(posedge clock) begin
    if (dut.chip_reset) length <= length + 1;
    if (dut.s_axi_awready && dut.chip_reset) $display("FAIL: ready in reset");
  end
  task released; begin
    length = 0;
    wait (dut.s_axi_awready);
    $display("reset %0d", length);
  end endtask
  initial begin
    repeat (4) @(posedge clock);
    if ({silent}) $display("FAIL: not silent at first");
    #1 reset = 1;
    released;
    if ({loud}) $display("FAIL: silent");
    {addresses}
    repeat (20) @(posedge clock);
    #2 reset = 0;
    #1 if ({silent}) $display("FAIL: not silent at once");
    #1 reset = 1;  // shorter than a cycle
    released;
    $display("done");
    $finish;
  end
endmodule
"""


def simulate(folder, *, external, options):
    """What the bench prints about a top."""
    require("icarus")
    found = ports(CONFIG, external=external)
    inner = {port.inner: port for port in found if port.inner}
    stub = _STUB.format(
        name=f"{options.prefix}{CHIP_MODULE}", ports=", ".join(("clk", "rst", *inner)),
        declarations="\n".join(f"  {'output' if port.output else 'input'} "
                               f"[{port.inner_width - 1}:0] {name};"
                               for name, port in inner.items()),
        values="\n".join(f"  assign {name} = {8 if name.endswith('addr') else 1};"
                         for name, port in inner.items() if port.output))
    handshakes = [f"dut.{port.name}" for port in found
                  if port.output and port.logical.endswith(("VALID", "READY"))]
    addresses = [port.name for port in found if port.output and port.logical.endswith("ADDR")]
    bench = _BENCH.format(
        top=options.top, base=", .memory_base(64'h1_0000_0123)" if external else "",
        silent=" | ".join(handshakes), loud="~(" + " & ".join(handshakes) + ")",
        addresses="\n".join(f'$display("{name} %h", dut.{name});' for name in addresses))
    (folder / "top.v").write_text(top_verilog(CONFIG, options) + stub + bench)
    for standard in ("2005", "2012"):
        subprocess.run(["iverilog", f"-g{standard}", "-o", "bench",
                        "-s", "bench", "top.v"], cwd=folder, check=True)
        lines = subprocess.run(["vvp", "-n", "bench"], cwd=folder, check=True, text=True,
                               capture_output=True).stdout.splitlines()
        assert lines[-1] == "done" and not [line for line in lines if "FAIL" in line], lines
        yield lines


@pytest.mark.parametrize("external", [False, True], ids=["sram", "axi"])
def test_reset(external, tmp_path):
    """Nothing is valid or ready in reset, from its first moment on, and it clears accumulators."""
    options = ExportOptions(external=external, top_name="mine", prefix="p_")
    for lines in simulate(tmp_path, external=external, options=options):
        lengths = [int(line.split()[1]) for line in lines if line.startswith("reset")]
        assert len(lengths) == 2
        assert all(CONFIG.reset_cycles <= length <= CONFIG.reset_cycles + 8 for length in lengths)


def test_addresses(tmp_path):
    """Channels follow each other, from the base on, whose low bits are ignored."""
    size = CONFIG.channel_bytes
    for lines in simulate(tmp_path, external=True, options=ExportOptions(external=True)):
        found = dict(line.split() for line in lines if line.startswith("m_axi"))
        base = 0x1_0000_0123 & -size
        assert {name: int(value, 16) for name, value in found.items()} == {
            f"m_axi_{channel:02}_{half}addr": base + channel * size + 8
            for channel in range(2 * CONFIG.cores) for half in ("aw", "ar")}


@pytest.mark.parametrize("external", [False, True], ids=["sram", "axi"])
def test_lint_without_waivers(external, tmp_path):
    """What a user's own Verilog is joined to needs no waiver."""
    require("verilator")
    inner = {port.inner: port for port in ports(CONFIG, external=external) if port.inner}
    pins = ["input wire clk, rst", *(
        f"{'output' if port.output else 'input'} wire [{port.inner_width - 1}:0] {name}"
        for name, port in inner.items())]
    values = "".join(f"  assign {name} = {port.inner_width}'d0;\n"
                     for name, port in inner.items() if port.output)
    (tmp_path / "hypercast.v").write_text(
        top_verilog(CONFIG, ExportOptions(external=external))
        + "/* verilator lint_off UNUSEDSIGNAL */\n/* verilator lint_off DECLFILENAME */\n"
        + f"module {CHIP_MODULE} ({', '.join(pins)});\n{values}endmodule\n")
    root = verilator_root()
    result = subprocess.run(
        [root / "bin" / "verilator_bin", "--lint-only", "-Wall", "--quiet-stats", "--top-module",
         "hypercast", "hypercast.v"], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "VERILATOR_ROOT": str(root)})
    assert (result.returncode, result.stderr) == (0, "")


def test_interfaces_for_vivado():
    """Each port says what it is to which interface; the first, what the interface is."""
    text = top_verilog(CONFIG, ExportOptions(external=True))
    for interface in interfaces(CONFIG, external=True):
        for port in interface.ports:
            notes = re.search(rf"((?:  \(\* .* \*\)\n)+)  (?:in|out)put .*\b{port.name}\b", text)[1]
            assert re.search(rf'X_INTERFACE_INFO = "xilinx.com:\w+:\w+:1.0 {interface.name} '
                             rf'{port.logical}"', notes)
            first = port is interface.ports[0]
            assert (f'"XIL_INTERFACENAME {interface.name}, ' in notes) == first


def test_a_complete_axi4_manager():
    """All that the protocol has (Arm IHI 0022) but user signals."""
    [manager] = [one for one in interfaces(CONFIG, external=True) if one.name == "m_axi_03"]
    address = ["ID", "ADDR", "LEN", "SIZE", "BURST", "LOCK", "CACHE", "PROT", "QOS", "REGION",
               "VALID", "READY"]
    assert {port.logical for port in manager.ports} == {
        *(f"AW{name}" for name in address), *(f"AR{name}" for name in address),
        *(f"W{name}" for name in ("DATA", "STRB", "LAST", "VALID", "READY")),
        *(f"B{name}" for name in ("ID", "RESP", "VALID", "READY")),
        *(f"R{name}" for name in ("ID", "DATA", "RESP", "LAST", "VALID", "READY"))}
