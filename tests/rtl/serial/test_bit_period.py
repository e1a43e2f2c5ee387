# SPDX-License-Identifier: BSD-2-Clause
"""Lengths of bits, and rates that cannot be had."""

import pytest

from hypercast.rtl.serial.bit_period import bit_period, check_bit_period


@pytest.mark.parametrize(("clock", "baud", "period"), [
    (50e6, 3_000_000, 267), (25e6, 3_000_000, 133), (48e6, 115_200, 6667), (12e6, 3_000_000, 64)])
def test_bit_period(clock, baud, period):
    assert bit_period(clock, baud) == period


def test_too_fast():
    with pytest.raises(ValueError, match=r"at least 4 cycles, not 3\.9375; choose a lower baud"):
        check_bit_period(63)


def test_rounding_stays_below_one_percent():
    for baud in range(100_000, 12_500_001, 12_345):
        assert bit_period(50e6, baud) * baud / 50e6 / 16 == pytest.approx(1, rel=0.01)
