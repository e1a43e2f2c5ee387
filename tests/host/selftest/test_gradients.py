# SPDX-License-Identifier: BSD-2-Clause
"""The test of sums on a chip of which a processing element does not accumulate."""

import pytest

from hypercast.host.selftest.gradients import check_gradients
from tests.host.selftest.broken_array import broken_chip


def damage(m, element, row, column):
    """The lowest bit of the sum is stuck, but only where it stays in the element."""
    if (row, column) == (1, 0):
        with m.If(element.gradient):
            m.d.sync += element.sum[0].eq(0)


@pytest.mark.slow
def test_a_broken_accumulator(monkeypatch):
    [finding] = check_gradients(broken_chip(monkeypatch, damage))
    assert finding.part == ("multiplier (1, 0) of the array of core 0, or the way of its sums to "
                            "core 0")
