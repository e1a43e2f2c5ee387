# SPDX-License-Identifier: BSD-2-Clause
"""Every public function says the types of what it takes and returns."""

import ast

import pytest

from tests.packaging.source_tree import FOLDERS, ROOT, modules

#: Methods with underscores that belong to what a class offers: who makes an object or calls it
#: passes their parameters.
OFFERED = {"__call__", "__init__"}


def public_functions(statements, owner=""):
    """Names and definitions of public functions and methods; not of functions in functions.

    Branches of ``if`` and ``try`` are followed.
    """
    for node in statements:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name in OFFERED or not node.name.startswith("_"):
                yield f"{owner}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            if not node.name.startswith("_"):
                yield from public_functions(node.body, f"{owner}{node.name}.")
        elif isinstance(node, ast.If | ast.Try | ast.ExceptHandler):
            yield from public_functions(ast.iter_child_nodes(node), owner)


def unannotated(function, is_method):
    """Names of the parameters of ``function`` without annotation, and ``return`` likewise."""
    given = function.args
    parameters = [*given.posonlyargs, *given.args]
    if is_method and "staticmethod" not in map(ast.unparse, function.decorator_list):
        parameters = parameters[1:]  # self or cls
    parameters += filter(None, [given.vararg, *given.kwonlyargs, given.kwarg])
    names = [parameter.arg for parameter in parameters if parameter.annotation is None]
    return names if function.returns else [*names, "return"]


def findings(text):
    """Public functions of a module with what they leave open, in the order of the module."""
    return [f"{name}: {', '.join(missing)}"
            for name, function in public_functions(ast.parse(text).body)
            if (missing := unannotated(function, "." in name))]


@pytest.mark.parametrize("text, found", [
    ("def f(a: int, b, *c, d=1, **e) -> int: ...", ["f: b, c, d, e"]),
    ("def f(a: int): ...", ["f: return"]),
    ("async def f(a) -> None: ...", ["f: a"]),
    ("def _f(a): ...", []),
    ("def f() -> None:\n def g(a): ...", []),
    ("class C:\n def __init__(self, a): ...", ["C.__init__: a, return"]),
    ("class C:\n def __call__(self, a) -> int: ...", ["C.__call__: a"]),
    ("class C:\n def __eq__(self, a): ...\n def _f(self, a): ...", []),
    ("class C:\n def elaborate(self, platform): ...", ["C.elaborate: platform, return"]),
    ("class C:\n @classmethod\n def f(cls, a) -> int: ...", ["C.f: a"]),
    ("class C:\n @staticmethod\n def f(a) -> int: ...", ["C.f: a"]),
    ("class C:\n class D:\n  def f(self): ...", ["C.D.f: return"]),
    ("class _C:\n def f(self, a): ...", []),
    ("try:\n def f(): ...\nexcept E:\n def g(): ...", ["f: return", "g: return"]),
])
def test_what_lacks_an_annotation_is_found(text, found):
    assert findings(text) == found


def test_every_public_function_is_annotated():
    assert [f"{path}: {finding}" for path in modules(*FOLDERS, "docs/figures")
            for finding in findings((ROOT / path).read_text())] == []
