# SPDX-License-Identifier: BSD-2-Clause
"""Loads simulations that were compiled to shared libraries."""

import ctypes
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

__all__ = ["load_library"]


def load_library(path: str | PathLike[str], prefix: str,
                 signatures: Mapping[str, tuple[Any, Sequence[Any]]]) -> ctypes.CDLL:
    """A library with the types of its functions.

    Parameters
    ----------
    path : path-like
        The library.
    prefix : str
        The beginning of the functions' names.
    signatures : dict
        The rest of each name to the types of its result and of its arguments.
    """
    library = ctypes.CDLL(str(path))
    for name, (result, arguments) in signatures.items():
        function = getattr(library, f"{prefix}{name}")
        function.restype, function.argtypes = result, arguments
    return library
