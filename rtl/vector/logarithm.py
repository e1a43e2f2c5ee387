# SPDX-License-Identifier: BSD-2-Clause
"""Logarithms of numbers from one to two, by table and interpolation."""

from math import log2

from hypercast.rtl.vector.interpolation import Interpolation

__all__ = ["Logarithm"]

#: ``log2(1 + i / 64)`` with 12 fraction bits.
_TABLE = tuple(round(4096 * log2(1 + i / 64)) for i in range(65))


class Logarithm(Interpolation):
    """Computes ``log2(1 + x)`` with 12 fraction bits, of ``x`` with 16, at most 1."""

    def __init__(self) -> None:
        super().__init__(_TABLE, 10)
