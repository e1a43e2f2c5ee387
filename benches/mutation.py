# SPDX-License-Identifier: BSD-2-Clause
"""Mutants of a Python source: the plausible mistakes that one change to its text can make.

Places to change are found in the syntax tree and replaced in the text, so that all else stays byte
for byte. Docstrings, texts, annotations, imports, ``__all__`` and code that only forms the message
of an error are left alone.
"""

import ast
import io
import token
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType
from typing import TypeAlias

__all__ = ["Mutant", "mutants", "same_code"]

#: Operators, and operators that they are mistaken for.
_SWAPS = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"),
    ast.IsNot: ("is", "is"), ast.In: ("in", "not in"), ast.NotIn: ("not", "in"),
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}
#: Of two words, as tokens.
_TWO_WORDS = (ast.IsNot, ast.NotIn)
#: Operators that lose an operand.
_TERMS = (ast.BitAnd, ast.BitOr)
#: Methods of Amaranth's ``Module`` that take a condition.
_BRANCHES = ("If", "Elif")
#: Functions whose first argument is a shape, and names of arguments that are sizes. A wider or
#: deeper design still computes the same.
_SHAPED = ("ArrayLayout", "In", "Out", "Signal", "Signature", "StructLayout", "signed", "unsigned")
_SIZES = ("depth", "width")
#: Classes whose parameters in brackets are annotations.
_GENERIC = ("dict", "list", "set")
#: Functions whose arguments from the second on are a message.
_CHECKS = ("require", "_require")
#: Nothing within these is changed.
_UNTOUCHED = (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Raise)
#: Methods that only make texts.
_TEXTS = ("__repr__", "__str__")


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change of a text.

    Parameters
    ----------
    start, end : int
        The replaced text, in characters from the beginning.
    text : str
        The new text.
    line : int
        Where it is, from 1 on.
    """

    start: int
    end: int
    text: str
    line: int

    def apply(self, source: str) -> str:
        """The text of the mutant."""
        return source[:self.start] + self.text + source[self.end:]

    def describe(self, source: str) -> str:
        """The lines that change, and the new ones, in one line."""
        first = source.rfind("\n", 0, self.start) + 1
        last = source.find("\n", self.end) % (len(source) + 1)
        before = " ".join(source[first:last].split())
        after = " ".join(f"{source[first:self.start]}{self.text}{source[self.end:last]}".split())
        return f"{before} -> {after}"


def mutants(source: str) -> list[Mutant]:
    """All mutants of a source, in the order of the text.

    Parameters
    ----------
    source : str
        Text of a module.

    Returns
    -------
    list of Mutant
        Each is a module by its syntax.
    """
    visitor = _Visitor(source)
    visitor.visit(ast.parse(source))
    return sorted(visitor.found, key=lambda mutant: (mutant.start, mutant.end, mutant.text))


def same_code(source: str, other: str) -> bool:
    """Whether two texts compile to the same code, wherever its lines are."""
    return _code(compile(source, "", "exec")) == _code(compile(other, "", "exec"))


def _code(code: CodeType) -> tuple[object, ...]:
    constants = tuple(_code(value) if isinstance(value, CodeType) else (type(value), repr(value))
                      for value in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_exceptiontable


#: Nodes that have a place in a source.
Located: TypeAlias = ast.expr | ast.stmt


class _Visitor(ast.NodeVisitor):
    """Collects mutants in ``found``."""

    def __init__(self, source: str) -> None:
        self.found: list[Mutant] = []
        self._source = source
        self._shapes: set[int] = set()  # identities of the nodes in shapes
        lines = source.splitlines(keepends=True)
        self._lines = [line.encode() for line in lines]
        self._begins = [0]
        for line in lines:
            self._begins.append(self._begins[-1] + len(line))
        self._tokens = [
            (self._begins[one.start[0] - 1] + one.start[1], one.string)
            for one in tokenize.generate_tokens(io.StringIO(source).readline)
            if one.type in (token.OP, token.NAME)]

    def _offset(self, line: int, column: int) -> int:
        """Characters before a place of the syntax tree, whose columns are bytes of UTF-8."""
        return self._begins[line - 1] + len(self._lines[line - 1][:column].decode())

    def _start(self, node: Located) -> int:
        return self._offset(node.lineno, node.col_offset)

    def _end(self, node: Located) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._offset(node.end_lineno, node.end_col_offset)

    def _text(self, node: Located) -> str:
        return self._source[self._start(node):self._end(node)]

    def _add(self, start: int, end: int, text: str) -> None:
        line = self._source.count("\n", 0, start) + 1
        self.found.append(Mutant(start=start, end=end, text=text, line=line))

    def _replace(self, node: Located, text: str) -> None:
        self._add(self._start(node), self._end(node), text)

    def _swap(self, operator: ast.AST, left: Located, right: Located) -> None:
        """An operator between two operands is another one."""
        if type(operator) not in _SWAPS:
            return
        word, text = _SWAPS[type(operator)]
        between = [(start, string) for start, string in self._tokens
                   if self._end(left) <= start < self._start(right)]
        index, start = next((index, start) for index, (start, string) in enumerate(between)
                            if string == word)
        end = start + len(word)
        if isinstance(operator, _TWO_WORDS):
            second, word = between[index + 1]
            end = second + len(word)
        self._add(start, end, text)

    def _forget(self, node: Located, operands: Iterable[Located]) -> None:
        """Leave one operand only."""
        for operand in operands:
            self._replace(node, f"({self._text(operand)})")

    def _constant(self, condition: Located) -> None:
        """Make a condition hold always, or never."""
        for value in ("True", "False"):
            self._replace(condition, value)

    def _remove(self, statement: Located) -> None:
        self._replace(statement, "pass")

    def visit_Module(self, node: ast.Module) -> None:
        self._body(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._body(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name not in _TEXTS:
            for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                self.visit(default)
            self._body(node)

    def _body(self, node: ast.Module | ast.ClassDef | ast.FunctionDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit(self, node: ast.AST) -> None:
        if not isinstance(node, _UNTOUCHED):
            super().visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        self.visit(node.test)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            return
        if all(isinstance(target, ast.Subscript) for target in node.targets):
            self._remove(node)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value and ast.unparse(node.annotation) != "TypeAlias":
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.value, ast.List) and isinstance(node.op, ast.Add):
            for element in node.value.elts:  # statements of a domain, say
                self._replace(element, "[]")
        else:
            self._remove(node)
        if not isinstance(node.target, ast.Attribute):
            start = next(start for start, string in self._tokens
                         if start >= self._end(node.target) and string.endswith("="))
            if type(node.op) in _SWAPS:
                word, text = _SWAPS[type(node.op)]
                self._add(start, start + len(word), text)
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._remove(node)
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.IfExp) -> None:
        if ast.unparse(node.test) == "TYPE_CHECKING":  # read only by tools that check types
            for statement in node.orelse if isinstance(node, ast.If) else ():
                self.visit(statement)
            return
        self._constant(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit_If(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._constant(condition)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in _BRANCHES and len(node.args) == 1:
            for value in "10":
                self._replace(node.args[0], value)
        if name in _CHECKS:
            self.visit(node.args[0])
            return
        sizes = [keyword.value for keyword in node.keywords if keyword.arg in _SIZES]
        for size in (*sizes, *node.args[:name in _SHAPED]):
            self._shapes |= {id(part) for part in ast.walk(size)}
        if name == "reshape":  # any negative size stands for the remaining one
            self._shapes |= {
                id(size.operand) for size in node.args if isinstance(size, ast.UnaryOp)}
        if isinstance(node.func, ast.Subscript) and getattr(node.func.value, "id", "") in _GENERIC:
            for argument in (*node.args, *node.keywords):
                self.visit(argument)
        else:
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for operator, left, right in zip(node.ops, [node.left, *node.comparators],
                                         node.comparators, strict=False):
            self._swap(operator, left, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._swap(node.op, node.left, node.right)
        if isinstance(node.op, _TERMS):
            self._forget(node, [node.left, node.right])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._swap(node.op, left, right)
        if len(node.values) == 2:
            self._forget(node, node.values)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, (ast.Not, ast.Invert)):
            self._forget(node, [node.operand])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) is int:
            if id(node) not in self._shapes:
                self._replace(node, str(node.value + 1))
            if node.value:
                self._replace(node, str(node.value - 1))
