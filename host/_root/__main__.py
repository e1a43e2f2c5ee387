# SPDX-License-Identifier: BSD-2-Clause
"""``python -m hypercast``: the command line, where no command ``hypercast`` is on the path."""

import os
import sys

__all__ = ["main"]

# Python puts the current folder here; its files are not modules of ours.
if not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):
    sys.path.pop(0)

from hypercast.host.cli import main

if __name__ == "__main__":  # and not in processes that it starts
    main(prog_name="hypercast")
