# SPDX-License-Identifier: BSD-2-Clause
"""The checkout as the packaging tests see it: folders, modules, and what they import."""

import ast
from functools import cache
from pathlib import Path

__all__ = ["EXAMPLES", "FOLDERS", "ROOT", "SHIPPED", "imports", "module_name", "modules",
           "named"]

ROOT = Path(__file__).parents[2]
#: Top-level folders that are packages under ``hypercast`` in every installation.
SHIPPED = ("boards", "host", "proofs", "reference", "rtl", "sim")
#: The same, and those that only a checkout has.
FOLDERS = ("benches", *SHIPPED)
#: Folder that is installed as ``hypercast.examples``, to be copied.
EXAMPLES = "examples"


def modules(*folders):
    """Paths of all modules in ``folders``, relative to the root, in order."""
    return sorted(path.relative_to(ROOT) for folder in folders
                  for path in (ROOT / folder).rglob("*.py"))


def module_name(path):
    """Name under which the module at ``path`` is imported."""
    parts = list(path.with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    if parts[:2] == ["host", "_root"]:
        return ".".join(["hypercast", *parts[2:]])
    return ".".join(["hypercast", *parts] if parts[0] in FOLDERS else parts)


def _executed(tree):
    """A module without what only type checkers read."""
    tree.body = [part for node in tree.body for part in (
        node.orelse if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        else [node])]
    return tree


def named(node):
    """Full names of modules, and of what may be one, that a statement imports."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.level:
        return {"."}
    if isinstance(node, ast.ImportFrom):
        return {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return set()


@cache
def imports(path):
    """Full names of what a module imports, at its top or later; relative imports as ``.``.

    ``from a.b import c`` counts as ``a.b`` and ``a.b.c``, which may be a module too.
    """
    tree = _executed(ast.parse((ROOT / path).read_text()))
    return frozenset(name for node in ast.walk(tree) for name in named(node))
