# SPDX-License-Identifier: BSD-2-Clause
"""The exported chip as a core of FuseSoC (CAPI2): what to simulate, to check and to synthesise."""

from typing import Any

import yaml

from hypercast.host.eda.integration.training_bench import bench_module, training_file
from hypercast.rtl.config import INTERFACE_VERSION, Config
from hypercast.rtl.export.export_options import DEFAULT_OPTIONS, ExportOptions
from hypercast.rtl.export.notice import notice

__all__ = ["core_name", "fusesoc_core", "names_file", "yosys_names"]

#: Options of Yosys' synthesis, without and with UltraRAM, which the default family has not.
_SYNTHESIS = (["-noiopad", "-noclkbuf"],
              ["-family", "xcup", "-uram", "-noiopad", "-noclkbuf"])
#: Commands of Tcl; only ``rename`` is Tcl's own.
_NAMES = """\
# Yosys names bits of wires as elements of arrays are named, word[0], and stops where it meets a
# name twice (https://github.com/YosysHQ/yosys/issues/4349). So such names are made private.
yosys hierarchy -check -top {top}
yosys rename -hide {{w:*\\[*}}
"""


def core_name(options: ExportOptions = DEFAULT_OPTIONS) -> str:
    """Name by which FuseSoC knows the core: vendor, library, name and version."""
    return f"hypercast:accelerators:{options.top}:{INTERFACE_VERSION}"


def names_file(options: ExportOptions = DEFAULT_OPTIONS) -> str:
    """Name of the file that ``yosys_names`` is the text of."""
    return f"{options.top}_yosys.tcl"


def yosys_names(config: Config, options: ExportOptions = DEFAULT_OPTIONS) -> str:
    """Commands of Yosys between reading the Verilog and its synthesis, in Tcl."""
    return _head(config) + _NAMES.format(top=options.top)


def fusesoc_core(config: Config, options: ExportOptions = DEFAULT_OPTIONS, *,
                 bench: bool = True) -> str:
    """The core description, ``NAME.core``.

    Parameters
    ----------
    bench : bool
        Whether there is a test bench, and with it a target ``sim``.
    """
    chip: dict[str, Any] = {"files": [f"{options.top}.v"], "file_type": "verilogSource-2005"}
    filesets = {"rtl": chip,
                "lint": {"files": [f"{options.top}.vlt"], "file_type": "vlt"},
                "names": {"files": [names_file(options)], "file_type": "tclSource"}}
    targets: dict[str, Any] = {
        "default": {"filesets": ["rtl"], "toplevel": options.top},
        "lint": {"description": "Verilator's lint, which finds nothing", "flow": "lint",
                 "flow_options": {"tool": "verilator", "verilator_options": ["-Wall"]},
                 "filesets": ["lint", "rtl"], "toplevel": options.top},
        "synth": {"description": "Synthesis with Yosys, out of context", "flow": "generic",
                  "flow_options": {"tool": "yosys", "arch": "xilinx", "output_format": "json",
                                   "yosys_synth_options": _SYNTHESIS[options.ultra_ram]},
                  "filesets": ["rtl", "names"], "toplevel": options.top},
    }
    if bench:
        training = training_file(options)
        filesets["bench"] = {"files": [
            {f"{bench_module(options)}.sv": {"file_type": "systemVerilogSource"}},
            {training: {"file_type": "user", "copyto": training}}]}
        targets["sim"] = {
            "description": "Trains on the karate club and compares with the reference",
            "flow": "sim", "flow_options": {"tool": "icarus", "iverilog_options": ["-g2012"]},
            "filesets": ["rtl", "bench"], "toplevel": bench_module(options)}
    core = {"name": core_name(options),
            "description": "Trains graph convolutional networks on a hypercube of cores",
            "filesets": filesets, "targets": targets}
    return f"CAPI=2:\n{_head(config)}\n{yaml.safe_dump(core, sort_keys=False)}"


def _head(config: Config) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in notice(config))
