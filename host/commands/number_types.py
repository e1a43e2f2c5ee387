# SPDX-License-Identifier: BSD-2-Clause
"""Types of options that are numbers: each has one spelling, in ASCII, and nothing else counts."""

import math
from collections.abc import Callable
from typing import Any

import click

from hypercast.host.files.reading.whole_numbers import whole_number

__all__ = ["COUNTS", "REAL", "REALS", "SPLIT", "Number", "NumberList", "NumberRange", "WholeRange"]


def _real(text: str) -> float:
    """The number that a text spells, as ``float`` does, but for ``_`` and other scripts' digits."""
    if "_" in text or not text.isascii():
        raise ValueError
    return float(text)


class WholeRange(click.IntRange):
    """A range of whole numbers."""

    name = "integer"

    def convert(self, value: Any, parameter: click.Parameter | None,
                context: click.Context | None) -> int:
        if isinstance(value, str):
            try:
                whole_number(value)
            except ValueError:
                self.fail(f"{value!r} is not a whole number", parameter, context)
        number: int = super().convert(value, parameter, context)
        return number


class Number(click.ParamType[float]):
    """A number, which NaN is not."""

    name = "number"

    def convert(self, value: Any, parameter: click.Parameter | None,
                context: click.Context | None) -> float:
        try:
            number = _real(value) if isinstance(value, str) else float(value)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            self.fail(f"{value!r} is no number", parameter, context)
        return number


class NumberRange(click.FloatRange):
    """A range of numbers, which NaN is not in."""

    name = "number"

    def convert(self, value: Any, parameter: click.Parameter | None,
                context: click.Context | None) -> float:
        number = REAL.convert(value, parameter, context)
        checked: float = super().convert(number, parameter, context)
        return checked


class NumberList(click.ParamType[Any]):
    """One number, or some with a separator between; the value is a tuple.

    Parameters
    ----------
    kind : callable
        Makes a number of a text, or raises ValueError.
    name : str
        What help calls the value.
    separator : str
        What is between two numbers.
    """

    def __init__(self, kind: Callable[[str], float], name: str, separator: str = ",") -> None:
        self.name = name
        self._kind = kind
        self._separator = separator

    def convert(self, value: Any, parameter: click.Parameter | None,
                context: click.Context | None) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(self._kind(part) for part in value.split(self._separator))
        except ValueError:
            self.fail(f"{value!r} is not a number or a list like 3{self._separator}2", parameter,
                      context)


#: A real number.
REAL = Number()
#: Real numbers, and whole ones.
REALS = NumberList(_real, "NUMBERS")
COUNTS = NumberList(whole_number, "COUNTS")
#: Percentages of the vertices to train on, to validate and to test.
SPLIT = NumberList(_real, "A/B/C", "/")
