# SPDX-License-Identifier: BSD-2-Clause
"""Checks the values that descriptions, clusters and plans are made of: one reader for each kind."""

import difflib
import math
import re
import reprlib
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeAlias

from hypercast.errors import InputError
from hypercast.host.files.reading.regular_file import one_line
from hypercast.rtl.plain_value import plain_float, plain_int, plain_value

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "DescriptionError",
    "Name",
    "Within",
    "call_text",
    "check",
    "check_fields",
    "given_fields",
]

_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
#: Characters of a name.
_LONGEST = 64
#: What is printable for Python, and takes no ink: default-ignorable letters and marks of Unicode,
#: and the pattern of Braille without dots.
_INKLESS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
                      "\U000e0100-\U000e01ef]")


class DescriptionError(InputError):
    """A description that makes no sense; names section, key and value, and what to do.

    The message is a line that prints, whatever of the description is in it.

    Attributes
    ----------
    section, key : str
        Where; ``key`` is empty if it is about the whole section.
    on_command_line : str
        The message there, where values may be called otherwise.
    """

    def __init__(self, text: str, section: str = "", key: str = "",
                 on_command_line: str = "") -> None:
        super().__init__(one_line(text))
        self.section = section
        self.key = key
        self.on_command_line = one_line(on_command_line or text)

    def at(self, place: str) -> Self:
        """This error, which also says in which file and line."""
        return type(self)(f"{place}: {self}", self.section, self.key,
                          f"{place}: {self.on_command_line}")

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, str, str]]:
        """The arguments from which another process makes it anew."""
        return type(self), (str(self), self.section, self.key, self.on_command_line)


@dataclass(frozen=True)
class Within:
    """The range of a number, for ``Annotated``; both ends are in it, and NaN never is."""

    least: float
    most: float = math.inf

    def holds(self, value: float) -> bool:
        """Whether a number is in the range."""
        return self.least <= value <= self.most

    def __str__(self) -> str:
        return f"at least {_number(self.least)}" if self.most == math.inf else \
            f"{_number(self.least)} to {_number(self.most)}"


class _Printed:
    """Texts that are names: they read as what they are, wherever they are printed or drawn."""

    def holds(self, value: str) -> bool:
        """Whether a text is a name."""
        return len(value) <= _LONGEST and value == " ".join(value.split()) and \
            value.isprintable() and "," not in value and not _INKLESS.search(value)

    def __str__(self) -> str:
        return f"a name of at most {_LONGEST} characters that print, without commas"


#: A text that names something: lists of names have commas between them.
Name: TypeAlias = Annotated[str, _Printed()]


def check(section: str, values: Mapping[str, object], hints: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a section, as the types they have to be.

    Whole numbers may stand for numbers, and a value for a tuple of it alone. Scalars and arrays of
    NumPy, and whatever else is a number to Python, become plain values. An empty text is no value:
    what is not given is left out.

    Parameters
    ----------
    section : str
        Name of the section, for messages.
    values : dict
        Key to value, as read.
    hints : dict
        Key to type: ``bool``, ``int``, ``float``, ``str``, tuples of them, unions with None;
        ``Name``; and ``Annotated`` numbers that are ``Within`` a range.

    Raises
    ------
    DescriptionError
        If a key is unknown, or a value of another type, empty or out of range.
    """
    result = {}
    for key, value in values.items():
        if key not in hints:
            near = difflib.get_close_matches(key, hints, n=1)
            advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(hints)}"
            raise DescriptionError(f"[{section}] has no {key}; {advice}", section, key)
        if type(value) is str and not value:
            raise DescriptionError(f"[{section}] {key} is empty; give {_text(hints[key])}, or "
                                   f"leave it out", section, key)
        try:
            result[key] = _convert(value, hints[key])
        except TypeError as error:
            wanted = error if isinstance(error, _LimitError) else _text(hints[key])
            raise DescriptionError(f"[{section}] {key} must be {wanted}, not {_show(value)}",
                                   section, key) from None
    return result


def check_fields(section: str, owner: "DataclassInstance") -> None:
    """Replace the fields of a frozen dataclass by what ``check`` makes of them.

    Raises
    ------
    DescriptionError
        If a value is of another type, empty or out of range.
    """
    hints = {field.name: field.type for field in fields(owner)}
    for key, value in check(section, vars(owner), hints).items():
        object.__setattr__(owner, key, value)


def call_text(name: str, values: Mapping[str, object]) -> str:
    """The call of a class that has some arguments, as Python writes it."""
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in values.items())})"


def given_fields(owner: "DataclassInstance") -> dict[str, Any]:
    """The first field of a dataclass, and others that do not have their default, by name."""
    first, *others = fields(owner)
    return {field.name: getattr(owner, field.name) for field in (first, *others)
            if field is first or getattr(owner, field.name) != field.default}


class _LimitError(TypeError):
    """A value of the right type is not what this error says."""


def _convert(value: Any, hint: Any) -> Any:
    value = plain_value(value)
    options = typing.get_args(hint)
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        if value is None and type(None) in options:
            return None
        [hint] = set(options) - {type(None)}
        return _convert(value, hint)
    if typing.get_origin(hint) is tuple:
        if len(getattr(value, "shape", ())) > 0 and hasattr(value, "tolist"):
            value = value.tolist()
        values = value if isinstance(value, (list, tuple)) else [value]
        if options[1:] == (...,):
            return tuple(_convert(one, options[0]) for one in values)
        if len(values) != len(options):
            raise TypeError
        return tuple(map(_convert, values, options))
    if typing.get_origin(hint) is Annotated:
        kind, limit = options
        if not limit.holds(found := _convert(value, kind)):
            raise _LimitError(limit)
        return found
    return _scalar(value, hint)


def _scalar(value: Any, hint: type) -> bool | int | float | str:
    """A value as exactly a bool, int, float or str; numbers may be of any class."""
    if hint is int:
        return plain_int(value)
    if hint is float:
        return plain_float(value)
    if hint is bool and isinstance(value, bool):
        return value
    if hint is str and isinstance(value, str) and value:
        return str.__str__(value)
    raise TypeError


def _text(hint: Any) -> str:
    if typing.get_origin(hint) is Annotated:
        [hint, _] = typing.get_args(hint)
    options = [option for option in typing.get_args(hint) if option not in (type(None), ...)]
    if typing.get_origin(hint) is tuple:
        texts = list(dict.fromkeys(map(_text, options)))
        count = f"a list of {len(options)}: " if len(options) > 1 else ""
        return count + (" and ".join(texts)) + ("" if count else ", or a list of such")
    return _text(options[0]) if options else _NAMES[hint]


def _number(value: float) -> str:
    return f"{value:.12f}".rstrip("0").rstrip(".")


def _show(value: object) -> str:
    try:
        return reprlib.repr(list(value) if isinstance(value, tuple) else value)
    except ValueError:  # Python refuses to write out a number of so many digits
        return "a number of thousands of digits"
