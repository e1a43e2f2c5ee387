# SPDX-License-Identifier: BSD-2-Clause
"""Metrics from counters: sums over the cores, in two words."""

from types import SimpleNamespace

import numpy as np

from hypercast.host.runtime.metric_counters import METRIC_COUNTERS, counted_metrics
from hypercast.reference.metrics import LOSS_UNIT
from hypercast.rtl.isa import Split


def test_metrics():
    totals = {name: 3 * number for number, name in enumerate(METRIC_COUNTERS, 1)}
    found = counted_metrics(totals | {"saturations": 14},
                            SimpleNamespace(split_sizes=(3, 4, 5), vertices=20),
                            SimpleNamespace(loss_scale=8))
    np.testing.assert_array_equal(found.vertices, [8, 3, 4, 5])
    assert found.unit == 8 * LOSS_UNIT
    for split in (Split.TRAIN, Split.VALIDATION, Split.TEST):
        low, high, correct, wrong = (
            3 * (1 + METRIC_COUNTERS.index(name.format(split.name.lower())))
            for name in ("loss_{}", "loss_{}_high", "correct_{}", "wrong_{}"))
        assert found.loss[split] == low + (high << 32)
        assert (found.correct[split], found.wrong[split]) == (correct, wrong)
    assert found.loss[0] == found.correct[0] == found.wrong[0] == 0
