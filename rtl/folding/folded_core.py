"""Converts the core to RTLIL, folded."""

import json
import tempfile
from pathlib import Path

from amaranth.back import rtlil

from hypercast.rtl.core import Core
from hypercast.rtl.folding.fold import fold
from hypercast.rtl.folding.folded_chip import FOLDED_CORE_MODULE
from hypercast.rtl.yosys import run_yosys

__all__ = ["folded_core_to_rtlil"]

#: Makes the core what ``fold`` can fold: words of logic, registers, and memories.
_FLATTEN = ("hierarchy -top {0}; proc -norom; flatten; opt; memory_collect; "
            "dffunmap -srst-only t:$sdffce; opt_clean; write_json flat.json")


def folded_core_to_rtlil(config):
    """RTLIL text of module ``FOLDED_CORE_MODULE``.

    Raises
    ------
    RuntimeError
        If Yosys fails; holds its message.
    """
    name = FOLDED_CORE_MODULE
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "core.il").write_text(rtlil.convert(Core(config), name=name))
        run_yosys(f"read_rtlil core.il; {_FLATTEN.format(name)}", path)
        design = json.loads((path / "flat.json").read_text())
        module = design["modules"][name]
        for cell in module["cells"].values():
            # Memories begin with zeros wherever nothing is said, and are easier to handle so.
            if cell["type"] == "$mem_v2" and "1" not in cell["parameters"]["INIT"]:
                cell["parameters"]["INIT"] = "x"
        fold(module, slots=config.cores, index="core", private={
            port for port in module["ports"] if port.startswith(("incoming__", "outgoing__"))})
        (path / "folded.json").write_text(json.dumps(design))
        run_yosys("read_json folded.json; opt_clean; write_rtlil folded.il", path)
        return (path / "folded.il").read_text()
