# SPDX-License-Identifier: BSD-2-Clause
"""Numbers of NumPy and other libraries as the plain values of Python that they are."""

import contextlib
import math
import numbers
import operator
from typing import Any

__all__ = ["plain_float", "plain_int", "plain_value"]


def plain_value(value: Any) -> Any:
    """The Python value that a scalar of NumPy, or an array or tensor of no dimensions, holds.

    ``numpy.float32(0.5)`` is 0.5, and ``numpy.array(3)`` is 3. All else is returned as it is; so
    are values that are masked, and times, whose items are numbers of some unit.
    """
    with contextlib.suppress(Exception):  # objects of other classes can answer with anything
        if getattr(value, "shape", None) == () and hasattr(value, "item") and not (
                getattr(value, "mask", False) or _is_time(value)):
            return value.item()
    return value


def plain_int(value: Any) -> int:
    """A whole number of any class as an int; ``TypeError`` if it is none, or True or False."""
    value = plain_value(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or _is_time(value):
        raise TypeError
    return operator.index(value)


def plain_float(value: Any) -> float:
    """A real number of any class as the nearest float.

    Raises
    ------
    TypeError
        If it is none, or is True or False; if it is finite and beyond the largest float, or not
        zero and below the least.
    """
    value = plain_value(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or _is_time(value):
        raise TypeError
    try:
        found = float(value)
    except OverflowError:
        raise TypeError from None
    if (math.isinf(found) or found == 0) and found != value:
        raise TypeError
    return found


def _is_time(value: Any) -> bool:
    """Whether a value is a time of NumPy, whose classes are registered as whole numbers."""
    return getattr(getattr(value, "dtype", None), "kind", "") in ("m", "M")
