"""Numbers in one option, with a separator between."""

from collections.abc import Callable
from typing import Any

import click

from hypercast.host.files.reading.whole_numbers import whole_number

__all__ = ["COUNTS", "REALS", "NumberList"]


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
            if "_" in value:
                raise ValueError
            return tuple(self._kind(part) for part in value.split(self._separator))
        except ValueError:
            self.fail(f"{value!r} is not a number or a list like 3{self._separator}2", parameter,
                      context)


#: Real numbers, and whole ones.
REALS = NumberList(float, "NUMBERS")
COUNTS = NumberList(whole_number, "COUNTS")
