# SPDX-License-Identifier: BSD-2-Clause
"""Finds the tests of a module: the mirrored one, and others that use it."""

import ast
from collections.abc import Collection, Mapping
from pathlib import Path

from hypercast.host.files.reading.regular_file import read_text

__all__ = ["mirrored_tests", "own_test"]

_PACKAGE = "__init__.py"
#: Where modules of the package itself lie.
_ROOT = Path("host/_root")


def mirrored_tests(root: Path, modules: Collection[Path]) -> dict[Path, tuple[Path, ...]]:
    """The tests of modules.

    ``rtl/array/tile_sums.py`` is tested by ``tests/rtl/array/test_tile_sums.py``, and then by
    others in ``tests/rtl/array`` that import it. A module without such a file is tested by the
    tests that import it, and through the nearest modules that import it and have a mirrored test:
    modules of its folder, if there are any. If there are neither, any tests that import it are its
    tests, or its nearest users' tests.

    Parameters
    ----------
    root : pathlib.Path
        A checkout.
    modules : list of pathlib.Path
        All modules that import each other, relative to it, packages (``__init__.py``) included.

    Returns
    -------
    dict
        Module to the tuple of its tests, relative to the root, its own first; empty if neither it
        nor its importers have any.
    """
    names = {_name(module): module for module in modules}
    users = _importers(root, modules, names)
    testers = _importers(root, [
        path.relative_to(root) for path in sorted(root.glob("tests/**/test_*.py"))], names)
    own = {module: {test for test in _own_tests(module) if (root / test).exists()}
           for module in modules}
    found: dict[Path, tuple[Path, ...]] = {}
    for module in modules:
        beside = {
            test for test in testers[module] if test.is_relative_to(own_test(module).parent)}
        others = beside if own[module] else (
            beside | _nearest(module, users, own) or _nearest(module, users, testers))
        found[module] = (*sorted(own[module]), *sorted(others - own[module]))
    return found


def _nearest(module: Path, users: Mapping[Path, set[Path]],
             tests: Mapping[Path, set[Path]]) -> set[Path]:
    """The tests of a module, or of the nearest of its users that have any."""
    level, seen = {module}, {module}
    while level:
        tested = {one for one in level if tests[one]}
        nearest = {one for one in tested if one.parent == module.parent} or tested
        if nearest:
            return {test for one in nearest for test in tests[one]}
        level = {user for one in level for user in users[one]} - seen
        seen |= level
    return set()


def _importers(root: Path, files: Collection[Path],
               names: Mapping[str, Path]) -> dict[Path, set[Path]]:
    """Module to the files, out of some, that import it."""
    found: dict[Path, set[Path]] = {module: set() for module in names.values()}
    for file in files:
        for name in _imports(root / file) & names.keys():
            found[names[name]].add(file)
    return found


def _name(module: Path) -> str:
    named = module.parent if module.name == _PACKAGE else module.with_suffix("")
    inside = named.relative_to(_ROOT) if named.is_relative_to(_ROOT) else named
    return ".".join(["hypercast", *inside.parts])


def own_test(module: Path) -> Path:
    """Where the mirrored test of a module would be."""
    return Path("tests") / module.with_name(f"test_{module.name}")


def _own_tests(module: Path) -> list[Path]:
    """Where the mirrored test of a module would be; a package's is in its folder, or beside.
    """
    if module.name != _PACKAGE:
        return [own_test(module)]
    folder = Path("tests") / module.parent
    return [folder / f"test_{folder.name}.py", folder.with_name(f"test_{folder.name}.py")]


def _imports(path: Path) -> set[str]:
    """Full names of a module's imports, ``from a import b`` as ``a`` and ``a.b``.

    Modules that it names in a text are imported by that name, or run.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(read_text(path))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found
