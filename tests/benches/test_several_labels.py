# SPDX-License-Identifier: BSD-2-Clause
"""The bench of several labels: what it measures, on a small graph."""

from hypercast.benches.several_labels import BARS, micro_f1_figures


def test_figures():
    real, fixed, below = micro_f1_figures(vertices=256, seeds=1, epochs=60, bars={16: BARS[16]})
    assert 0.5 < real.value < 1
    assert below.passed and below.value == real.value - fixed.value
