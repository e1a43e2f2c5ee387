# SPDX-License-Identifier: BSD-2-Clause
"""The finding of a self-test."""

from typing import NamedTuple

__all__ = ["Finding", "hexadecimal"]


class Finding(NamedTuple):
    """Something that is wrong.

    Attributes
    ----------
    part : str
        What is broken, as far as can be told.
    text : str
        How that shows.
    """

    part: str
    text: str


def hexadecimal(value: int, width: int) -> str:
    """``value`` in as many digits as ``width`` bits have."""
    return f"{value:#0{2 + -(-width // 4)}x}"
