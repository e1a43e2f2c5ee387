# SPDX-License-Identifier: BSD-2-Clause
"""Starts of other Pythons by this one, without the current folder in their paths of modules.

Else a file of the user, such as ``csv.py``, would be executed in the place of a module.
"""

import contextlib
import os
import sys
from collections.abc import Iterator

__all__ = ["PYTHON", "safe_path"]

#: The command of this Python.
PYTHON = (sys.executable, "-P")
_SAFE, _FOLDERS = "PYTHONSAFEPATH", "PYTHONPATH"


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """While it lasts, whatever Python is started, by whom and however, is started like that."""
    before = {name: os.environ.get(name) for name in (_SAFE, _FOLDERS)}
    os.environ[_SAFE] = "1"
    if folders := before[_FOLDERS]:  # an empty one, as in PATH:, is the current folder, too
        os.environ[_FOLDERS] = os.pathsep.join(filter(None, folders.split(os.pathsep)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
