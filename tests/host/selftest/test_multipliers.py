# SPDX-License-Identifier: BSD-2-Clause
"""The test of products on a chip of which two processing elements are broken."""

import pytest
from amaranth.hdl import Signal

from hypercast.host.selftest.multipliers import check_arrays
from tests.host.selftest.broken_array import broken_chip


def damage(m, element, row, column):
    """(0, 1) multiplies with another weight; the adder of (1, 0), which the sums of a whole column
    pass, has a bit that is stuck."""
    if (row, column) == (0, 1):
        product = Signal.like(element.right)
        m.d.sync += [product.eq(element.right), element.sum.eq(element.sum_above + product)]
    elif (row, column) == (1, 0):
        m.d.sync += element.sum[3].eq(1)


@pytest.mark.slow
def test_broken_processing_elements(monkeypatch):
    found = list(check_arrays(broken_chip(monkeypatch, damage)))
    assert {finding.part for finding in found} == {
        "multiplier (0, 1) of the array of core 0", "column 0 of the array of core 0"}
