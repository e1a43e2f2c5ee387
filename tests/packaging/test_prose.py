# SPDX-License-Identifier: BSD-2-Clause
"""Docstrings and comments name the things that they mean, instead of pointing at other nouns."""

import ast
import io
import re
import tokenize

import pytest

from tests.packaging.source_tree import ROOT, modules

#: Folders whose docstrings and comments are held to it.
FOLDERS = ("benches", "boards", "host", "proofs", "reference", "rtl", "sim")
#: Phrases that stand for a noun which the reader has to look for.
CLIPPED = re.compile(r"\b(those of|likewise|as they are)\b", re.IGNORECASE)
_DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
#: Beginning of a line of a comment: ``#`` or ``#:``.
_MARK = re.compile(r"\s*#+:?")


def docstrings(text):
    """Line and text of every docstring."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            yield node.body[0].lineno, node.body[0].value.value


def comments(text):
    """Line and text of every comment; lines below one another in one column are one comment."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            (line, column), words = token.start, _MARK.sub("", token.string)
            if found and found[-1][1:3] == [line - 1, column]:
                found[-1][1] = line
                found[-1][3] += words
            else:
                found.append([line, line, column, words])
    return [(begin, words) for begin, _, _, words in found]


def clipped(text):
    """Clipped phrases of a module, as line and phrase; the line is where the text begins."""
    return sorted((line, match[1].lower())
                  for line, prose in (*docstrings(text), *comments(text))
                  for match in CLIPPED.finditer(" ".join(prose.split())))


@pytest.mark.parametrize("folder", FOLDERS)
def test_prose_names_things(folder):
    found = [f"{path}:{line}: {phrase}" for path in modules(folder)
             for line, phrase in clipped((ROOT / path).read_text())]
    assert not found, "name the thing that is meant:\n" + "\n".join(found)


def test_what_is_found():
    text = '''
"""Rows of a part, and those of others."""

def read(rows):
    """Rows as they
    are.

    Likewise.
    """
    # columns and those
    # of rows
    return "those of"  # likewise
'''
    assert clipped(text) == [
        (2, "those of"), (5, "as they are"), (5, "likewise"), (10, "those of"), (12, "likewise")]
