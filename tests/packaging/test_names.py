# SPDX-License-Identifier: BSD-2-Clause
"""Functions that do something are verbs: none is called by a participle alone."""

import ast

import pytest

from tests.packaging.source_tree import FOLDERS, ROOT, modules

#: Participles of irregular verbs; others end in "ed".
IRREGULAR = set(
    "begun bought bound broken brought built caught chosen cut dealt done drawn found given gone "
    "grown held hidden kept known laid led left lent lost made meant met paid put read said seen "
    "sent shown sold sought spent split spread taken thrown told torn understood worn written"
    .split())
#: Verbs and nouns that look like participles.
OTHERS = {"bound", "cut", "embed", "exceed", "feed", "left", "need", "proceed", "put", "read",
          "seed", "shed", "speed", "split", "succeed"}


def is_participle(name):
    word = name.strip("_")
    return "_" not in word and word not in OTHERS and (word in IRREGULAR or word.endswith("ed"))


def is_property(function):
    return any("property" in ast.unparse(one) for one in function.decorator_list)


def participles(text):
    """Functions and methods, but no properties, whose name is a participle, as line and name.

    Functions within functions are for their few lines.
    """
    def visit(body):
        for one in body:
            if isinstance(one, ast.ClassDef):
                yield from visit(one.body)
            elif isinstance(one, ast.FunctionDef) and is_participle(one.name) \
                    and not is_property(one):
                yield one.lineno, one.name

    return list(visit(ast.parse(text).body))


@pytest.mark.parametrize("folder", FOLDERS)
def test_functions_are_verbs(folder):
    found = [f"{path}:{line}: {name}" for path in modules(folder)
             for line, name in participles((ROOT / path).read_text())]
    assert not found, "call them by verbs, or by nouns:\n" + "\n".join(found)


def test_what_is_found():
    text = """
def packed(): ...
def read(): ...
def pack_rows(): ...
class Rows:
    def _written(self): ...
    @property
    def kept(self): ...
"""
    assert participles(text) == [(2, "packed"), (6, "_written")]
