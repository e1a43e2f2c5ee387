# SPDX-License-Identifier: BSD-2-Clause
"""What our code raises is its own, so that all else is a defect: read from the source."""

import ast
import builtins
import importlib
import pickle

from hypercast.errors import HypercastError
from tests.packaging.source_tree import FOLDERS, ROOT, module_name, modules

#: They end a program or say that a line is never reached, and are for nobody to catch.
ANYWHERE = {"AssertionError", "NotImplementedError", "SystemExit"}
#: What Python and libraries expect of methods by these names.
PROTOCOL = {"AttributeError", "IndexError", "KeyError", "StopIteration", "TypeError"}
#: What a module raises if it cannot be imported.
IMPORT = {"ImportError", "ModuleNotFoundError"}
#: Objects that are none of ours, as fuzzing makes them.
IMITATIONS = {"benches/fuzzing/any_values.py"}
#: What fuzzing or another process found to be a defect.
DEFECTS = {"UnforeseenError", "WrongError"}


def is_builtin(name):
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, BaseException)


def bare_raises(text):
    """Line and name of each statement that raises an exception of Python with a message.

    Without one, an exception is a sign between functions, which whoever calls turns into a message.
    ``OSError`` with a number is what the system would raise: it chooses the class by it.
    """
    def visit(node, method):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Raise) and isinstance(child.exc, ast.Call) \
                    and isinstance(child.exc.func, ast.Name) and child.exc.args:
                name, arguments = child.exc.func.id, child.exc.args
                if is_builtin(name) and name not in ANYWHERE \
                        and not (name in PROTOCOL and method.startswith("__")) \
                        and not (name in IMPORT and not method) \
                        and not (name == "OSError" and len(arguments) > 1):
                    yield child.lineno, name
            yield from visit(child, child.name if isinstance(child, ast.FunctionDef) else method)

    return list(visit(ast.parse(text), ""))


def exception_classes(folders):
    """Public exceptions that modules define, but no warnings and what names a defect."""
    for path in modules(*folders):
        for node in ast.parse((ROOT / path).read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name.endswith("Error") \
                    and not node.name.startswith("_") and node.name not in DEFECTS:
                kind = getattr(importlib.import_module(module_name(path)), node.name)
                if issubclass(kind, BaseException):
                    yield kind


def test_what_is_bare():
    text = """
raise ValueError("3")
raise ValueError
raise InputError("3")
raise click.UsageError("3")
raise OSError("3")
raise OSError(errno.EPERM, "3")
class A:
    def __getattr__(self, name): raise AttributeError(name)
    def get(self, name):
        if name: raise KeyError(name)
        raise NotImplementedError("3")
"""
    assert bare_raises(text) == [(2, "ValueError"), (6, "OSError"), (11, "KeyError")]


def test_no_exception_of_python_is_raised():
    found = {str(path): bare_raises((ROOT / path).read_text())
             for path in modules(*FOLDERS)}
    assert len(found) > 100
    assert {path for path, raises in found.items() if raises} == IMITATIONS, \
        "take a class of hypercast.errors"


def test_exceptions_have_one_base_and_cross_processes():
    found = list(exception_classes(FOLDERS))
    assert len(found) > 25
    for kind in found:
        assert issubclass(kind, HypercastError), kind
        assert len([base for base in kind.__mro__ if issubclass(base, HypercastError)]) <= 3, kind
        copy = pickle.loads(pickle.dumps(kind("a text")))
        assert type(copy) is kind and str(copy) == "a text"
