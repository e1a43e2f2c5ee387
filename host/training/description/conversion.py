"""Checks the values that descriptions are made of."""

import difflib
import reprlib
import types
import typing
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

from hypercast.rtl.plain_value import plain_float, plain_int, plain_value

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["DescriptionError", "check_fields", "checked"]

_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


class DescriptionError(ValueError):
    """A description that makes no sense; names section, key and value, and what to do.

    Attributes
    ----------
    section, key : str
        Where; ``key`` is empty if it is about the whole section.
    """

    def __init__(self, text: str, section: str = "", key: str = "") -> None:
        super().__init__(text)
        self.section = section
        self.key = key

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, str]]:
        """What another process makes it anew from."""
        return type(self), (str(self), self.section, self.key)


def checked(section: str, values: Mapping[str, object], hints: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a section, as the types they have to be.

    Whole numbers may stand for numbers, and a value for a tuple of it alone. Scalars and arrays of
    NumPy, and whatever else is a number to Python, become plain values.

    Parameters
    ----------
    section : str
        Name of the section, for messages.
    values : dict
        Key to value, as read.
    hints : dict
        Key to type: ``bool``, ``int``, ``float``, ``str``, tuples of them, and unions with None.

    Raises
    ------
    DescriptionError
        If a key is unknown, or a value of another type.
    """
    result = {}
    for key, value in values.items():
        if key not in hints:
            near = difflib.get_close_matches(key, hints, n=1)
            advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(hints)}"
            raise DescriptionError(f"[{section}] has no {key}; {advice}", section, key)
        try:
            result[key] = _converted(value, hints[key])
        except TypeError:
            raise DescriptionError(
                f"[{section}] {key} must be {_text(hints[key])}, not {_shown(value)}",
                section, key) from None
    return result


def check_fields(section: str, owner: "DataclassInstance") -> None:
    """Replace the fields of a frozen dataclass by what ``checked`` makes of them.

    Raises
    ------
    DescriptionError
        If a value is of another type.
    """
    hints = {field.name: field.type for field in fields(owner)}
    for key, value in checked(section, vars(owner), hints).items():
        object.__setattr__(owner, key, value)


def _converted(value: Any, hint: Any) -> Any:
    value = plain_value(value)
    options = typing.get_args(hint)
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        if value is None and type(None) in options:
            return None
        [hint] = set(options) - {type(None)}
        return _converted(value, hint)
    if typing.get_origin(hint) is tuple:
        if len(getattr(value, "shape", ())) > 0 and hasattr(value, "tolist"):
            value = value.tolist()
        values = value if isinstance(value, (list, tuple)) else [value]
        if options[1:] == (...,):
            return tuple(_converted(one, options[0]) for one in values)
        if len(values) != len(options):
            raise TypeError
        return tuple(map(_converted, values, options))
    return _scalar(value, hint)


def _scalar(value: Any, hint: type) -> bool | int | float | str:
    """A value as exactly a bool, int, float or str; numbers may be of any class."""
    if hint is int:
        return plain_int(value)
    if hint is float:
        return plain_float(value)
    if hint is bool and isinstance(value, bool):
        return value
    if hint is str and isinstance(value, str):
        return str.__str__(value)
    raise TypeError


def _shown(value: object) -> str:
    """A value in a message of one line."""
    return " ".join(reprlib.repr(value).split())


def _text(hint: Any) -> str:
    options = [option for option in typing.get_args(hint) if option not in (type(None), ...)]
    if typing.get_origin(hint) is tuple:
        texts = list(dict.fromkeys(map(_text, options)))
        count = f"a list of {len(options)}: " if len(options) > 1 else ""
        return count + (" and ".join(texts)) + ("" if count else ", or a list of such")
    return _text(options[0]) if options else _NAMES[hint]
