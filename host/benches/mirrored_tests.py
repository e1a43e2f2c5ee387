"""Which tests are those of a module: the mirrored ones, or those of the blocks it is part of."""

import ast
from collections.abc import Collection
from pathlib import Path

from hypercast.host.files.reading.regular_file import read_text

__all__ = ["mirrored_tests", "own_test"]


def mirrored_tests(root: Path, modules: Collection[Path]) -> dict[Path, tuple[Path, ...]]:
    """The tests of modules.

    ``rtl/array/tile_sums.py`` is tested by ``tests/rtl/array/test_tile_sums.py``. What has no such
    file is tested through the nearest modules that import it and have one; those of its folder, if
    there are any.

    Parameters
    ----------
    root : pathlib.Path
        A checkout.
    modules : list of pathlib.Path
        All modules that import each other, relative to it.

    Returns
    -------
    dict
        Module to the tuple of its tests, relative to the root; empty if neither it nor what imports
        it has any.
    """
    names = {_name(module): module for module in modules}
    users: dict[Path, set[Path]] = {module: set() for module in modules}
    for module in modules:
        for name in _imports(root / module) & names.keys():
            users[names[name]].add(module)
    found: dict[Path, tuple[Path, ...]] = {}
    for module in modules:
        tests: tuple[Path, ...] = ()
        level, seen = {module}, {module}
        while level and not tests:
            tested = {one for one in level if (root / own_test(one)).exists()}
            nearest = {one for one in tested if one.parent == module.parent} or tested
            tests = tuple(sorted(map(own_test, nearest)))
            level = {user for one in level for user in users[one]} - seen
            seen |= level
        found[module] = tests
    return found


def _name(module: Path) -> str:
    return ".".join(["hypercast", *module.with_suffix("").parts])


def own_test(module: Path) -> Path:
    """Where the mirrored test of a module would be."""
    return Path("tests") / module.with_name(f"test_{module.name}")


def _imports(path: Path) -> set[str]:
    """Full names of what a module imports, ``from a import b`` as ``a`` and ``a.b``."""
    return {name for node in ast.walk(ast.parse(read_text(path)))
            if isinstance(node, ast.ImportFrom) and node.module
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))}
