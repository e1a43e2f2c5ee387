# SPDX-License-Identifier: BSD-2-Clause
"""Converts a component to RTLIL, after a change to its flat netlist."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.export.yosys import run_yosys

__all__ = ["convert_changed"]

#: Makes of a component words of logic, registers, and memories.
_FLATTEN = ("hierarchy -top {0}; proc -norom; flatten; opt; memory_collect; "
            "dffunmap -srst-only t:$sdffce; opt_clean; write_json flat.json")


def convert_changed(component: wiring.Component, name: str,
                    change: Callable[[dict[str, Any]], None]) -> str:
    """RTLIL text of a component as one module.

    Parameters
    ----------
    component : Component
        Component.
    name : str
        Name of the module.
    change : callable
        Gets the module, flat, as in Yosys' JSON, and changes it in place.

    Raises
    ------
    ToolError
        If Yosys fails; holds its message.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "whole.il").write_text(to_rtlil(component, name))
        run_yosys(f"read_rtlil whole.il; {_FLATTEN.format(name)}", path)
        design = json.loads((path / "flat.json").read_text())
        module = design["modules"][name]
        for cell in module["cells"].values():
            # Memories begin with zeros wherever nothing is said, and are easier to handle so.
            if cell["type"] == "$mem_v2" and "1" not in cell["parameters"]["INIT"]:
                cell["parameters"]["INIT"] = "x"
        change(module)
        (path / "changed.json").write_text(json.dumps(design))
        run_yosys("read_json changed.json; opt_clean; write_rtlil changed.il", path)
        return (path / "changed.il").read_text()
