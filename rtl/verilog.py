"""Writes RTLIL as Verilog that simulates as it synthesises."""

import tempfile
from pathlib import Path

from hypercast.rtl.yosys import run_yosys

__all__ = ["write_verilog"]

#: Attributes that mean something to Amaranth and Yosys only.
_ATTRIBUTES = " ".join(f"-remove {name}" for name in (
    "generator", "top", "src", "amaranth.hierarchy", "amaranth.decoding"))
#: What ``proc -nomux -norom`` does, without ``proc_prune``. That, as ``amaranth.back.verilog`` uses
#: it, makes ``always @*`` processes that read nothing, as for a constant field of a structure;
#: simulators never run those.
_PASSES = ("delete s:0",  # wires without a bit, which Verilog would give two
           "proc_clean", "proc_rmdead", "proc_init", "proc_arst", "proc_dlatch", "proc_dff",
           "proc_memwr", "proc_clean", "opt_expr -keepdc", "memory_collect",
           f"attrmap {_ATTRIBUTES}", f"attrmap -modattr {_ATTRIBUTES}")


def write_verilog(*designs):
    """One text with the modules of all ``designs``.

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
        script = "; ".join((*(f"read_rtlil {name}" for name in names), *_PASSES,
                            "write_verilog -norename design.v"))
        run_yosys(script, folder)
        text = Path(folder, "design.v").read_text()
        # The first line says how Yosys was compiled.
        return text[text.index("*/\n") + 3:].lstrip("\n")
