# SPDX-License-Identifier: BSD-2-Clause
"""Limits that hardware and compiler share."""

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.limits import BURST, CLASSES, QUOTIENT_CYCLES, group_size, row_interval


@pytest.mark.parametrize(("lanes", "size", "interval"), [
    (2, 2, QUOTIENT_CYCLES), (4, 4, 1), (8, 4, 1), (16, 8, 1)])
def test_what_follows_from_lanes(lanes, size, interval):
    config = PRESETS["test"].replace(lanes=lanes)
    assert (group_size(config), row_interval(config)) == (size, interval)


def test_what_others_rely_on():
    """Memories outside the chip, and the docs of LOSS."""
    assert (BURST, CLASSES, QUOTIENT_CYCLES) == (16, 512, 9)
