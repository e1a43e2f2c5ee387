# SPDX-License-Identifier: BSD-2-Clause
"""Routing without progress is noticed by nextpnr's log, and slow progress is not taken for it."""

import pytest

from hypercast.host.eda.routing import no_progress


def log(counts):
    return "Info: Routing..\n" + "".join(
        f"Info:     iter={number} wires=1244047 overused={count} overuse={count + 5} archfail=NA\n"
        for number, count in enumerate(counts, start=1))


@pytest.mark.parametrize("counts", [
    [], [59325], [7] * 60, list(range(900, 0, -1)), [9, *[12] * 59, 8, *[12] * 59],
])
def test_progress(counts):
    assert no_progress(log(counts)) == ""


@pytest.mark.parametrize("counts, reason", [
    ([7] * 61, "after 61 rounds of routing, 7 wires or more are used twice since round 1"),
    ([900, 5, 3, *range(4, 64)],
     "after 63 rounds of routing, 3 wires or more are used twice since round 3"),
])
def test_no_progress(counts, reason):
    assert no_progress(log(counts)) == reason
