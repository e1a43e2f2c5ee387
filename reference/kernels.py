"""Compiles functions with hot loops to machine code, by numba, and keeps it on the disk.

A kernel is compiled when it is first called, for the types of its signature, and runs without the
interpreter's lock. What a kernel calls, but for NumPy, is in the kernel itself: numba would not see
that another module has changed.
"""

import contextlib
import fcntl
import functools
import hashlib
import importlib.metadata
import inspect
import os
import platform
import shutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

__all__ = ["Kernel", "kernel", "kernel_folder"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

#: Beside a kernel's machine code lies the SHA-256 of all of it.
_DIGEST = "sha256"
#: One kernel is compiled or loaded at a time, by whichever thread.
_THREADS = threading.RLock()


def kernel(signature: str) -> Callable[[Callable[Arguments, Result]], "Kernel[Arguments, Result]"]:
    """Decorate a function that numba compiles when it is first called.

    Parameters
    ----------
    signature : str
        Types of result and arguments. ``in1(int32)`` is a contiguous vector that may be read-only,
        such as one of a file that is mapped into memory; ``in2`` is a matrix, ``in3`` has three
        axes.
    """
    return functools.partial(Kernel, signature=signature)


def kernel_folder() -> Path:
    """Where machine code is kept: below ``$HYPERCAST_CACHE``, or ``~/.cache/hypercast``."""
    folder = os.environ.get("HYPERCAST_CACHE")
    return (Path(folder) if folder else Path.home() / ".cache" / "hypercast") / "kernels"


class Kernel(Generic[Arguments, Result]):
    """A function of arrays and numbers that is compiled; see ``kernel``.

    Parameters
    ----------
    function : callable
        What it computes.
    signature : str
        As ``kernel`` takes it.
    """

    def __init__(self, function: Callable[Arguments, Result], signature: str) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._signature = signature
        self._compiled: Any = None

    def __call__(self, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        """What the function gives."""
        if self._compiled is None:
            with _THREADS:
                if self._compiled is None:
                    self._compiled = self._load()
        result: Result = self._compiled(*arguments, **named)
        return result

    def _load(self) -> Any:
        """The compiled function, from the disk if it is there."""
        folder = kernel_folder() / f"{self._function.__name__}-{self._key()}"
        try:
            with _holding(folder):
                return self._kept(folder)
        except OSError as error:
            warnings.warn(
                f"{self._function.__name__} is compiled for this process only, as {folder.parent} "
                f"cannot be written: {error.strerror}; set HYPERCAST_CACHE to a folder that can",
                RuntimeWarning, stacklevel=3)
            return self._compile(cache=False)

    def _kept(self, folder: Path) -> Any:
        import numba
        if not _whole(folder):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        # numba takes the folder from its configuration when a function is decorated.
        config: Any = numba.config
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            compiled = self._compile(cache=True)
        finally:
            config.CACHE_DIR = before
        if not compiled.stats.cache_hits:
            (folder / _DIGEST).write_text(_digest(folder))
        return compiled

    def _compile(self, *, cache: bool) -> Any:
        from numba import njit, types
        constant = {f"in{axes}": lambda element, axes=axes: types.Array(
            element, axes, "C", readonly=True) for axes in (1, 2, 3)}
        signature = eval(self._signature, {**vars(types), **constant})
        return njit(signature, cache=cache, nogil=True)(self._function)

    def _key(self) -> str:
        """A digest of what decides the machine code, but for the processor, which numba notes."""
        parts = [self._signature, Path(inspect.getfile(self._function)).read_text(),
                 inspect.getfile(self._function), sys.version, platform.machine(),
                 *(importlib.metadata.version(name) for name in ("numba", "llvmlite", "numpy"))]
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _whole(folder: Path) -> bool:
    """Whether machine code is there, and as it was written."""
    try:
        return (folder / _DIGEST).read_text() == _digest(folder)
    except (OSError, UnicodeDecodeError):
        return False


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.name != _DIGEST:
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


@contextlib.contextmanager
def _holding(folder: Path) -> Iterator[None]:
    """Hold the right to compile what a folder keeps; the process's end gives it up, too."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
