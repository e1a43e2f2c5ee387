# SPDX-License-Identifier: BSD-2-Clause
"""Compiles functions with hot loops to machine code, by numba, and keeps it on the disk.

A kernel is compiled when it is first called, for the types of its signature, and runs without the
interpreter's lock. A kernel contains all functions that it calls, but for NumPy's: numba would not
see that another module has changed.
"""

import functools
import hashlib
import importlib.metadata
import inspect
import platform
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

from hypercast.cache import ensure

__all__ = ["Kernel", "kernel"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

#: One kernel is compiled or loaded at a time, by whichever thread.
_THREADS = threading.RLock()


def kernel(signature: str) -> Callable[[Callable[Arguments, Result]], "Kernel[Arguments, Result]"]:
    """Decorate a function that numba compiles when it is first called.

    Parameters
    ----------
    signature : str
        Types of result and arguments. ``in1(int32)`` is a contiguous vector that may be read-only,
        for instance a file that is mapped into memory; ``in2`` is a matrix, ``in3`` has three axes.
    """
    return functools.partial(Kernel, signature=signature)


class Kernel(Generic[Arguments, Result]):
    """A function of arrays and numbers that is compiled; see ``kernel``.

    Parameters
    ----------
    function : callable
        The function to compile.
    signature : str
        As ``kernel`` takes it.
    """

    def __init__(self, function: Callable[Arguments, Result], signature: str) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._signature = signature
        self._compiled: Any = None

    def __call__(self, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        """Call the function; it is compiled when it is called first."""
        if self._compiled is None:
            with _THREADS:
                if self._compiled is None:
                    self._compiled = self._load()
        result: Result = self._compiled(*arguments, **named)
        return result

    def _load(self) -> Any:
        """The compiled function, from the disk if it is there."""
        made: list[Any] = []
        try:
            folder = ensure("kernels", f"{self._function.__name__}-{self._key()}",
                            lambda folder: made.append(self._compile(folder)))
        except OSError as error:
            warnings.warn(f"{self._function.__name__} is compiled for this process only, as "
                          f"machine code cannot be kept: {error.strerror}", RuntimeWarning,
                          stacklevel=3)
            return self._compile()
        return made[0] if made else self._compile(folder)

    def _compile(self, folder: Path | None = None) -> Any:
        """The function as numba compiles it, or finds it in a folder, where it is kept."""
        from numba import config, njit, types
        constant = {f"in{axes}": lambda element, axes=axes: types.Array(
            element, axes, "C", readonly=True) for axes in (1, 2, 3)}
        signature = eval(self._signature, {**vars(types), **constant})
        # numba takes the folder from its configuration when a function is decorated.
        settings: Any = config
        before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder or "")
        try:
            return njit(signature, cache=folder is not None, nogil=True)(self._function)
        finally:
            settings.CACHE_DIR = before

    def _key(self) -> str:
        """A digest of everything that decides the machine code."""
        from llvmlite import binding
        from numba import config
        settings: Any = config
        parts = [self._signature, Path(inspect.getfile(self._function)).read_text(),
                 inspect.getfile(self._function), sys.version, platform.machine(),
                 binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten(),
                 settings.CPU_NAME, settings.CPU_FEATURES,
                 *(importlib.metadata.version(name) for name in ("numba", "llvmlite", "numpy"))]
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
