"""Converts designs to C++ by CXXRTL, large modules in parts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from amaranth.back import rtlil

from hypercast.rtl.export.yosys import YOSYS
from hypercast.sim.build_step import BuildError, run
from hypercast.sim.partition import Wire, connections, identifier, split

__all__ = ["convert", "flatten", "implied_zeros"]

#: Yosys command that spares JSON what memories begin with, a character for every bit.
_NO_INIT = "setparam -set INIT 1'x t:$mem_v2"
#: Yosys commands that make a module flat. Splitting nets by driver takes away loops that exist only
#: between bits of one net.
_FLATTEN = ("read_rtlil {module}.il; hierarchy -check -top {module}; proc; flatten; opt_expr; "
            "opt_clean -purge; splitnets -driver; opt_clean; memory_collect; "
            f"write_rtlil {{module}}.flat.il; {_NO_INIT}; write_json {{module}}.json; "
            "design -reset")
#: Yosys commands that make modules of the cells that files list.
_MARK = 'select -read {part}.cells; setattr -set submod "{part}"; select -clear'
_SPLIT = ("design -reset; read_rtlil {module}.flat.il; {marks}; submod; opt_clean -purge; "
          f"design -save parts; {_NO_INIT}; select {{module}}; "
          "write_json -selected {module}.parts.json; select -clear")
#: Yosys commands that convert a flat module to C++.
_WRITE = ("hierarchy -check -top {module}; splitnets -driver; opt_clean; "
          "write_cxxrtl -header -g1 -namespace {module} {module}.cpp")


@contextmanager
def implied_zeros() -> Iterator[None]:
    """While this is entered, memories of zeros are converted to RTLIL without initial values.

    CXXRTL begins with zeros anyway, and Amaranth makes an object of every initial bit: ten minutes
    for channels of a million words.
    """
    emit_memory = rtlil.ModuleEmitter.emit_memory

    def emit_unless_zero(emitter: Any, index: Any, cell: Any) -> None:
        if any(cell.init):
            emit_memory(emitter, index, cell)

    with mock.patch.object(rtlil.ModuleEmitter, "emit_memory", emit_unless_zero):
        yield


def _yosys(commands: Sequence[str], folder: Path, name: str) -> str:
    """Run Yosys; returns its log."""
    script = "; ".join(commands).replace("; ", "\n")
    (folder / f"{name}.ys").write_text(f"{script}\n")
    return run([*YOSYS, f"{name}.ys"], folder, name)


def _read_json(path: Path, module: str) -> Any:
    return json.loads(path.read_text())["modules"][module]


def flatten(modules: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """The modules without their hierarchy, as in Yosys' JSON, by name.

    Parameters
    ----------
    modules : dict
        Name of each module to its RTLIL text.
    folder : Path
        Where files are written.

    Raises
    ------
    BuildError
        If Yosys fails.
    """
    for module, text in modules.items():
        (folder / f"{module}.il").write_text(text)
    _yosys([_FLATTEN.format(module=module) for module in modules], folder, "flatten")
    return {module: _read_json(folder / f"{module}.json", module) for module in modules}


def convert(modules: Mapping[str, str], folder: Path, *,
            blocks: Mapping[str, Sequence[str]] | None = None,
            ) -> tuple[list[str], dict[str, list[Wire]]]:
    """Write the C++ of modules: ``NAME.cpp`` and ``NAME.h``, in namespace ``NAME``.

    A module with blocks becomes several, one for each of its parts, named ``MODULE_PART``.

    Parameters
    ----------
    modules : dict
        Name of each module to its RTLIL text.
    folder : Path
        Where files are written.
    blocks : dict, optional
        Name of each module that becomes several to the paths of its blocks, see
        ``partition.split``.

    Returns
    -------
    tuple
        The names of all modules written, and for each module with blocks the wires between its
        parts, as ``partition.connections`` gives them.

    Raises
    ------
    BuildError
        If Yosys fails, or finds a combinational loop.
    """
    blocks = blocks or {}
    flat = flatten(modules, folder)
    written, commands = [], []
    for module, netlist in flat.items():
        if module not in blocks:
            commands += [f"design -reset; read_rtlil {module}.flat.il",
                         _WRITE.format(module=module)]
            written.append(module)
            continue
        parts = split(netlist, blocks[module])
        for part, cells in parts.items():
            (folder / f"{part}.cells").write_text(
                "".join(f"{module}/{identifier(cell)}\n" for cell in cells))
        marks = "; ".join(_MARK.format(part=part) for part in parts)
        commands.append(_SPLIT.format(module=module, marks=marks))
        names = [f"{module}_{part}" for part in parts]
        for name in names:
            others = " ".join(other for other in [module, *names] if other != name)
            commands += [f"design -load parts; delete {others}", _WRITE.format(module=name)]
        written += names
    log = _yosys(commands, folder, "convert")
    if "feedback" in log or "buffered comb" in log:
        raise BuildError(f"a module's output is no register, or it has a combinational loop; see "
                         f"{folder / 'convert.log'}")
    return written, {module: connections(_read_json(folder / f"{module}.parts.json", module))
                     for module in blocks}
