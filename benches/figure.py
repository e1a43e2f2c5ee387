# SPDX-License-Identifier: BSD-2-Clause
"""A measured figure, and the bar it has to reach."""

import operator
from dataclasses import dataclass
from typing import Any

__all__ = ["Figure"]

_RELATIONS = {">=": operator.ge, "<=": operator.le, "=": operator.eq}


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One line of a bench.

    Parameters
    ----------
    name : str
        The measured quantity.
    value : float or int
        The measurement.
    unit : str
        Unit of the value; empty for plain numbers.
    bar : float, int or None
        The bar that it is compared with; None if it is for information.
    relation : str
        ``>=``, ``<=`` or ``=``: how ``value`` has to relate to ``bar``.
    """

    name: str
    value: float
    unit: str = ""
    bar: float | None = None
    relation: str = ">="

    @property
    def passed(self) -> bool:
        """Whether the bar is reached; True without a bar."""
        return self.bar is None or bool(_RELATIONS[self.relation](self.value, self.bar))

    @property
    def verdict(self) -> str:
        """``pass``, ``MISSED``, or nothing without a bar."""
        return "" if self.bar is None else "pass" if self.passed else "MISSED"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"name": self.name, "value": self.value, "unit": self.unit, "bar": self.bar,
                "relation": self.relation if self.bar is not None else None,
                "passed": self.passed}
