# SPDX-License-Identifier: BSD-2-Clause
"""The length of a bit on a serial line, in fractions of a clock cycle."""

from hypercast.errors import InputError

__all__ = ["FRACTION", "bit_period", "check_bit_period"]

#: Parts of a cycle that bits are counted in.
FRACTION = 16
#: Least cycles per bit: the receiver needs three samples of each.
_LEAST = 4


def bit_period(clock: int, baud: int) -> int:
    """Cycles per bit, in 1/``FRACTION``; less than 1 % wrong.

    Parameters
    ----------
    clock : float
        Clock frequency in Hz.
    baud : float
        Bits per second.

    Raises
    ------
    InputError
        If bits are too short for the clock.
    """
    period = round(FRACTION * clock / baud)
    check_bit_period(period)
    return period


def check_bit_period(period: int) -> None:
    """Refuse, with an InputError, what is too short for the receiver."""
    if period < _LEAST * FRACTION:
        raise InputError(f"a bit must take at least {_LEAST} cycles, not {period / FRACTION}; "
                         f"choose a lower baud rate or a faster clock")
