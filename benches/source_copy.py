# SPDX-License-Identifier: BSD-2-Clause
"""A copy of the project, to change its source and run its tests without touching the original."""

import compileall
import os
import py_compile
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path

from hypercast.errors import NotFoundError, ToolError
from hypercast.safe_path import PYTHON

__all__ = ["SourceCopy", "checkout"]

#: Folders of packages, and of their tests.
_FOLDERS = ("benches", "boards", "host", "proofs", "reference", "rtl", "sim", "tests")
#: Other files that tests read.
_OTHERS = ("docs", "examples", "pyproject.toml", "constraints.txt", "README.md", "LICENSE",
           "Makefile", "CHANGELOG.md", "CONTRIBUTING.md")
#: Options of pytest: what is run.
_SELECTION = ("-p", "no:cacheprovider", "-m", "not slow")
#: Pytest's exit status if no test is selected.
_NO_TESTS = 5


def checkout() -> Path:
    """The folder of the project with its tests.

    Raises
    ------
    NotFoundError
        If the package is installed without them.
    """
    root = Path(__file__).parents[1]
    for name in (*_FOLDERS, "pyproject.toml"):
        if not (root / name).exists():
            raise NotFoundError(f"{root} has no {name}; the bench runs the tests of a checkout")
    return root


class SourceCopy:
    """A copy of the project, whose ``hypercast`` is imported.

    Parameters
    ----------
    root : pathlib.Path
        Folder of the project.
    folder : pathlib.Path
        Where the copy is made; it must not exist yet.
    cache : pathlib.Path
        Where compiled chips are kept, instead of the user's cache.
    """

    def __init__(self, root: Path, folder: Path, cache: Path) -> None:
        self._root, self._folder = root, folder
        for name in (*_FOLDERS, *_OTHERS):
            source = root / name
            if source.is_dir():
                shutil.copytree(source, folder / name,
                                ignore=shutil.ignore_patterns("__pycache__"))
            elif source.exists():
                shutil.copy(source, folder / name)
        package = folder / "hypercast"  # found before the installed package
        package.mkdir()
        for name in _FOLDERS[:-1]:
            (package / name).symlink_to(Path("..", name))
        shutil.copytree(folder / "host/_root", package, dirs_exist_ok=True)
        # By hash: a mutant may be as long, and as old, as the original.
        compileall.compile_dir(package, quiet=2,
                               invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
        self._environment = {
            **os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1",
            "HYPERCAST_CACHE": str(cache), "HYPOTHESIS_PROFILE": "unshrunk"}

    def write(self, module: Path, text: str) -> None:
        """Change the text of a module, whose path is relative to the project."""
        (self._folder / module).write_text(text, encoding="utf-8")

    def restore(self, module: Path) -> None:
        """Undo all changes of a module."""
        shutil.copy(self._root / module, self._folder / module)

    def run(self, *arguments: str, timeout: float | None = None) -> tuple[int | None, str]:
        """Run Python in the copy.

        Parameters
        ----------
        arguments : str
            Arguments of the command.
        timeout : float, optional
            Seconds after which it, and what it began, is ended.

        Returns
        -------
        tuple
            The exit status, None if it was ended; and the output.
        """
        process = subprocess.Popen(
            [*PYTHON, *arguments], cwd=self._folder, env=self._environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        try:
            printed, _ = process.communicate(timeout=timeout)
            return process.returncode, printed
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()

    def test(self, tests: Iterable[Path],
             timeout: float | None = None) -> tuple[int | None, str]:
        """Run test modules, until the first fails; as ``run``.

        Tests that are marked as slow are left out. A module without others does not fail.
        """
        status, printed = self.run(
            "-m", "pytest", "-x", *_SELECTION, "--tb=line",
            f"--basetemp={self._folder / 'temporary'}", *map(str, tests), timeout=timeout)
        return 0 if status == _NO_TESTS else status, printed

    def with_tests(self, tests: Iterable[Path]) -> set[Path]:
        """The test modules, out of some, in which ``test`` has something to run.

        Raises
        ------
        ToolError
            If tests cannot be collected.
        """
        status, printed = self.run(
            "-m", "pytest", "--collect-only", "-qq", *_SELECTION, *map(str, tests))
        if status not in (0, _NO_TESTS):
            raise ToolError(f"tests cannot be collected:\n{printed}")
        counts = re.finditer(r"^(\S+\.py): \d+$", printed, re.MULTILINE)
        return {Path(count[1]) for count in counts}
