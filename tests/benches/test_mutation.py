# SPDX-License-Identifier: BSD-2-Clause
"""Mutants of snippets: what is changed, what is left alone, and what is the same code."""

import ast
from pathlib import Path

import pytest

from hypercast.benches.mutation import mutants, same_code
from hypercast.benches.source_copy import checkout


def texts(source):
    return {mutant.apply(source) for mutant in mutants(source)}


@pytest.mark.parametrize(("source", "expected"), [
    ("a < b", {"a <= b"}), ("a <= b", {"a < b"}), ("a > b", {"a >= b"}), ("a >= b", {"a > b"}),
    ("a == b", {"a != b"}), ("a != b", {"a == b"}), ("a is b", {"a is not b"}),
    ("a is not b", {"a is b"}), ("a in b", {"a not in b"}), ("a not  in b", {"a in b"}),
    ("a + b", {"a - b"}), ("a << b", {"a >> b"}), ("a < b <= c", {"a <= b <= c", "a < b < c"}),
    ("a & b", {"a | b", "(a)", "(b)"}), ("a or b", {"a and b", "(a)", "(b)"}),
    ("not a", {"(a)"}), ("~a", {"(a)"}), ("a[2:]", {"a[3:]", "a[1:]"}), ("x = 0", {"x = 1"}),
    ("(a)  # - +\n", set()), ("(a -  # + -\n b)", {"(a +  # + -\n b)"}),
    ("é = ü & (b)", {"é = ü | (b)", "é = (ü)", "é = (b)"}),
    ("a.b += c", {"pass"}), ("a += c", {"pass", "a -= c"}), ("a |= c", {"pass", "a &= c"}),
    ("m.d.sync += [f(a), g]", {"m.d.sync += [[], g]", "m.d.sync += [f(a), []]"}),
    ("a[b] = c", {"pass"}), ("a.b = c", set()), ("f(a)", {"pass"}),
    ("if a: b", {"if True: b", "if False: b"}),
    ("x = a if b else c", {"x = a if True else c", "x = a if False else c"}),
    ("[a for a in b if c]", {"[a for a in b if True]", "[a for a in b if False]"}),
    ("with m.Elif(a):\n    b", {"with m.Elif(1):\n    b", "with m.Elif(0):\n    b"}),
    ("x = Signal(8)", {"x = Signal(7)"}),  # a wider one is not wrong
    ("x = data.StructLayout({'a': 3})", {"x = data.StructLayout({'a': 2})"}),
    ("x = Memory(8, depth=2)", {"x = Memory(9, depth=2)", "x = Memory(7, depth=2)",
                                "x = Memory(8, depth=1)"}),
    ("x = a.reshape(-1, 2)", {"x = a.reshape(-0, 2)", "x = a.reshape(-1, 3)",
                              "x = a.reshape(-1, 1)"}),  # -2 is what -1 is
    ("x = list[a | b](c + d)", {"x = list[a | b](c - d)"}),
    ("x = e[a | b](c)", {"x = e[a & b](c)", "x = e[(a)](c)", "x = e[(b)](c)"}),
])
def test_operators(source, expected):
    assert texts(source) == expected


@pytest.mark.parametrize("source", [
    '"""Text 1."""', "__all__ = ['a'] + b", "from a import b", "a: In(8)", "x = 'a < b'",
    "def f(a: 3) -> 4:\n    'Text.'", "a: TypeAlias = b | c", 'x = f"{a + 1}"',
    "if TYPE_CHECKING:\n    a + 1", "raise E(a + 1)", "x = True",
    "def __repr__(self):\n    return a + 1"])
def test_left_alone(source):
    assert texts(source) == set()


def test_messages_of_checks_are_left_alone():
    assert texts("x = require(a == b, c + d)") == {"x = require(a != b, c + d)"}
    assert texts("assert a == b, c + d") == {"assert a != b, c + d"}


def test_place_and_description():
    source = "a\nif (b &\n    c):\n    d\n"
    one = next(mutant for mutant in mutants(source) if mutant.text == "|")
    assert one.line == 2 and one.describe(source) == "if (b & -> if (b |"
    whole = next(mutant for mutant in mutants(source) if mutant.text == "True")
    assert whole.describe(source) == "if (b & c): -> if (True):"


def test_same_code():
    assert same_code("x = 1 + 1", "\nx = 2") and not same_code("x = 1", "x = True")
    assert not same_code("def f():\n    return 1", "def f():\n    return 2")


def test_mutants_of_the_sources_are_python():
    """A few mutants of each module are parsed, which is all that time permits."""
    for path in sorted(Path(checkout(), "rtl").rglob("*.py")):
        source = path.read_text()
        for mutant in mutants(source)[::23]:
            ast.parse(mutant.apply(source))
