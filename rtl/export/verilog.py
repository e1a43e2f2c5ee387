# SPDX-License-Identifier: BSD-2-Clause
"""Writes RTLIL as Verilog that simulates as it synthesises."""

import re
import tempfile
from pathlib import Path

import amaranth

from hypercast.errors import ToolError
from hypercast.rtl.export.plain_names import with_plain_names
from hypercast.rtl.export.yosys import run_yosys

__all__ = ["write_verilog"]

#: Attributes that mean something to Amaranth and Yosys only.
_ATTRIBUTES = " ".join(f"-remove {name}" for name in (
    "generator", "top", "amaranth.hierarchy", "amaranth.decoding"))
#: Attribute that says which line of Python something is from, and what paths in it begin with.
_SOURCE = re.compile(r'(?<=\(\* src = ")[^"]*(?=" \*\))')
_ROOTS = tuple(f"{Path(file).parents[levels]}/" for file, levels in (
    (amaranth.__file__, 1), (__file__, 2)))  # an environment may lie within a checkout
#: What ``proc -nomux -norom`` does, without ``proc_prune``. ``amaranth.back.verilog`` runs it, but
#: it makes ``always @*`` processes that read nothing, as for a constant field of a structure;
#: simulators never run such processes.
_PASSES = ("delete s:0",  # wires without a bit, which Verilog would give two
           "proc_clean", "proc_rmdead", "proc_init", "proc_arst", "proc_dlatch", "proc_dff",
           "proc_memwr", "proc_clean", "opt_expr -keepdc", "memory_collect",
           f"attrmap {_ATTRIBUTES}", f"attrmap -modattr {_ATTRIBUTES}")
_WITHOUT_ULTRA_RAM = "setattr -unset ram_style a:ram_style=ultra"
_WITHOUT_SOURCES = ("attrmap -remove src", "attrmap -modattr -remove src")
#: What Yosys writes into each module with ``always @*``: a register that all of them mention, so
#: that they run when a simulation begins.
_TRIGGER = re.compile(r"\\\$auto\$verilog_backend\S*")
_DECLARATION = re.compile(r"^( *)reg \\\$start +(?:<?=) *0;$", re.MULTILINE)
#: What lets a memory begin with zeros in RTLIL; Yosys would write a line for each of its words.
_ZEROS = re.compile(r"""
    ^(?:\ \ attribute\ .*\n)*
    \ \ cell\ \$meminit_v2\ .*\n
    (?:\ \ \ \ (?!connect\ \\DATA\ ).*\n)*
    \ \ \ \ connect\ \\DATA\ \d+'0+\n
    (?:\ \ \ \ .*\n)*
    \ \ end\n""", re.MULTILINE | re.VERBOSE)
#: A memory, with its attributes, that no block gives other contents.
_MEMORY = re.compile(r"""
    ^(?P<notes>(?:\ \ \(\*.*\*\)\n)*)
    (?P<memory>\ \ reg\ (?:\[(?P<top>\d+):0\]\ )?(?P<name>\S+)\ +\[(?P<last>\d+):0\];\n)
    (?!\ \ initial\ begin\n)""", re.MULTILINE | re.VERBOSE)
#: The register of what is read from a memory.
_READ = re.compile(r"^( *)(reg (?:\[\d+:0\] )?)(_\d+_);$", re.MULTILINE)


def _start_processes(text: str) -> str:
    """Make the triggers of ``always @*`` change when a simulation begins.

    Yosys declares them with a value, which in SystemVerilog (IEEE 1800-2017, 6.8) no process sees
    as a change. A process whose inputs are as they begin then never runs, and what it drives stays
    unknown. So triggers are unknown first, and assigned when all processes wait.
    """
    text, count = _DECLARATION.subn(
        r"\1reg \\$start ;\n\1initial \\$start  <= 1'h0;", _TRIGGER.sub(r"\\$start", text))
    modules = sum("always @*" in module for module in text.split("\nendmodule\n"))
    if count != modules:
        raise ToolError(f"Yosys wrote {modules} modules with processes, but {count} triggers "
                        f"that start them; use the version in pyproject.toml")
    return text


def _begin_with_zeros(text: str) -> str:
    """Let memories without other contents begin with zeros, and UltraRAM in simulations only.

    UltraRAM begins with zeros, but has no initial values: asked for them, a synthesis takes block
    RAM instead (AMD UG901, UG573).
    """
    def begun(match: re.Match[str]) -> str:
        last, name, width = int(match["last"]), match["name"], int(match["top"] or 0) + 1
        space = " " if name.startswith("\\") else ""
        row = f"index[{last.bit_length() - 1}:0]" if last else "0"
        block = (f"  initial begin : \\clear_{name.lstrip(chr(92))} \n    integer index;\n"
                 f"    for (index = 0; index <= {last}; index = index + 1)\n"
                 f"      {name}{space}[{row}] = {width}'h{'0' * -(-width // 4)};\n  end\n")
        if "ram_style = \"ultra\"" in match["notes"]:
            block = f"`ifndef SYNTHESIS\n{block}`endif\n"
        return f"{match[0]}{block}"

    return _MEMORY.sub(begun, text)


def _clear_reads(text: str) -> str:
    """Let simulations begin with zero in the registers of what is read from memories.

    Nothing depends on what was never read, but in a simulation it is unknown, and so would be all
    that is computed from it. A synthesis does not see this: not every RAM has such a value.
    """
    return _READ.sub(r"\1\2\3;\n`ifndef SYNTHESIS\n\1initial \3 = 0;\n`endif", text)


def _shorten_sources(text: str) -> str:
    """Name sources from the package on, so that the text is the same on every machine."""
    def shortened(match: re.Match[str]) -> str:
        paths = match[0]
        for root in _ROOTS:
            paths = paths.replace(root, "")
        return paths

    return _SOURCE.sub(shortened, text)


def write_verilog(*designs: str, sources: bool = False, ultra_ram: bool = True) -> str:
    """One text with the modules of all ``designs``.

    It is Verilog 2001 and SystemVerilog at once, and simulates alike as either. Memories without
    initial values begin with zeros, see ``to_rtlil``.

    Parameters
    ----------
    designs : str
        RTLIL texts, as from ``amaranth.back.rtlil``.
    sources : bool
        Whether attributes ``src`` lead back to lines of Python.
    ultra_ram : bool
        Whether large memories ask for UltraRAM, as they do in RTLIL. Tools for an FPGA that has
        none may refuse that.

    Raises
    ------
    ToolError
        If Yosys refuses them; holds its message. Or if it does not write processes as expected.
    """
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{index}.il" for index in range(len(designs))]
        for name, text in zip(names, designs, strict=True):
            Path(folder, name).write_text(_ZEROS.sub("", text))
        script = "; ".join((*(f"read_rtlil {name}" for name in names), *_PASSES,
                            *(() if sources else _WITHOUT_SOURCES),
                            *(() if ultra_ram else (_WITHOUT_ULTRA_RAM,)),
                            "write_verilog -norename design.v"))
        run_yosys(script, folder)
        text = Path(folder, "design.v").read_text()
        # The first line says how Yosys was compiled.
        text = _start_processes(text[text.index("*/\n") + 3:].lstrip("\n"))
        return _shorten_sources(with_plain_names(_begin_with_zeros(_clear_reads(text))))
