# SPDX-License-Identifier: BSD-2-Clause
"""Checks of fields."""

from hypercast.errors import InputError

__all__ = ["require"]


def require(condition: object, message: str) -> None:
    """Raise ValueError with a message unless a condition holds."""
    if not condition:
        raise InputError(message)
