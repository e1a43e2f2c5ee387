# SPDX-License-Identifier: BSD-2-Clause
"""Finds a C++ compiler: clang++, g++, or the ``ziglang`` wheel."""

import importlib.util
import shutil

from hypercast.errors import HypercastError
from hypercast.safe_path import PYTHON

__all__ = ["NoCompilerError", "find_compiler"]


class NoCompilerError(HypercastError, RuntimeError):
    """No C++ compiler was found; the message says how to get one."""


def find_compiler() -> list[str]:
    """The command (a list) of the first C++ compiler found, fastest simulations first.

    Raises
    ------
    NoCompilerError
        If there is none.
    """
    for name in ("clang++", "g++"):
        if path := shutil.which(name):
            return [path]
    if importlib.util.find_spec("ziglang"):
        return [*PYTHON, "-m", "ziglang", "c++"]
    raise NoCompilerError(
        "no C++ compiler found: install clang++ or g++ (Debian: apt install g++), "
        "or the compiler from PyPI: pip install ziglang")
