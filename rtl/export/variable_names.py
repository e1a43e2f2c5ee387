# SPDX-License-Identifier: BSD-2-Clause
"""Names of signals under Python 3.13, as older versions give them.

Amaranth names a signal like the variable that it is assigned to, which it reads from the bytecode.
From version 3.13 on, Python joins two accesses to local variables to one instruction. Amaranth 0.5
does not know these instructions, and a signal that one of them stores has no name.
"""

import contextlib
import sys
from collections.abc import Iterator
from opcode import opname
from types import CodeType
from typing import Any
from unittest import mock

from amaranth import tracer

__all__ = ["named_by_variables", "stored_name"]

#: Instructions between a call and the one that stores its result.
_PASSED = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_DEREF",
           "BUILD_LIST", "CACHE", "COPY", "EXTENDED_ARG", "LOAD_FAST_LOAD_FAST",
           "LOAD_FAST_BORROW_LOAD_FAST_BORROW"}
#: Instructions that store a result in a local variable; its number is in the upper four bits.
_STORES = {"STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"}
#: Instruction that stores a result in a local variable; its number is all bits.
_STORE = "STORE_FAST"

_plain = tracer.get_var_name
_ABSENT: Any = object()


def stored_name(code: CodeType, place: int) -> str | None:
    """The local variable that the result of a call is stored in, or None.

    Parameters
    ----------
    code : types.CodeType
        A function's code, of Python 3.13 or later.
    place : int
        Where the call is in its bytecode.
    """
    if not opname[code.co_code[place]].startswith("CALL"):
        return None
    upper = 0
    for index in range(place + 2, len(code.co_code), 2):
        name, number = opname[code.co_code[index]], upper | code.co_code[index + 1]
        if name in _STORES or name == _STORE:
            variable = number >> 4 if name in _STORES else number
            # From Python 3.11 on, and not among what typeshed describes.
            return str(code._varname_from_oparg(variable))  # type: ignore[attr-defined]
        if name not in _PASSED:
            return None
        upper = number << 8 if name == "EXTENDED_ARG" else 0
    return None


def _variable_name(depth: int = 2, default: Any = _ABSENT) -> Any:
    """The name that Amaranth finds, or else the one that ``stored_name`` finds."""
    found = _plain(depth + 1, _ABSENT)
    if found is _ABSENT:
        frame = sys._getframe(depth)
        found = stored_name(frame.f_code, frame.f_lasti)
    if found is not None:
        return found
    if default is _ABSENT:
        raise tracer.NameNotFound
    return default


@contextlib.contextmanager
def named_by_variables() -> Iterator[None]:
    """While this is entered, signals have the names that Python 3.12 gives them."""
    if sys.version_info < (3, 13):
        yield
        return
    with mock.patch.object(tracer, "get_var_name", _variable_name):
        yield
