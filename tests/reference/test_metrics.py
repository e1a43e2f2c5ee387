# SPDX-License-Identifier: BSD-2-Clause
import math

import numpy as np
import pytest

from hypercast.reference.metrics import Metrics
from hypercast.rtl.isa import Split


def test_counts_by_split():
    splits = np.array([Split.TRAIN, Split.TEST, Split.TRAIN, Split.NONE])
    losses = np.array([4096, 100, 8192, 7])
    metrics = Metrics.of_vertices(splits, losses, np.zeros(4, int), np.array([0, 1, 1, 0]))
    assert metrics.loss.tolist() == [0, 12288, 0, 100]
    assert metrics.correct.tolist() == [0, 1, 0, 0]
    assert metrics.vertices.tolist() == [1, 2, 0, 1]
    assert metrics.loss.dtype == np.int64
    assert metrics.accuracy(Split.TRAIN) == 0.5
    assert metrics.mean_loss(Split.TRAIN) == pytest.approx(1.5 * math.log(2))
    assert math.isnan(metrics.accuracy(Split.VALIDATION))
    assert math.isnan(metrics.mean_loss(Split.VALIDATION))


def test_counts_of_several_labels():
    splits = np.array([Split.TRAIN, Split.TEST, Split.TRAIN, Split.NONE])
    predicted = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0], [1, 1, 1]], dtype=bool)
    labels = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 0], [1, 1, 1]], dtype=bool)
    metrics = Metrics.of_vertices(splits, np.full(4, 10), predicted, labels, unit=0.5)
    assert metrics.correct.tolist() == [0, 2, 0, 0]
    assert metrics.wrong.tolist() == [0, 2, 0, 0]
    assert metrics.micro_f1(Split.TRAIN) == 2 * 2 / (2 * 2 + 2)
    assert metrics.mean_loss(Split.TRAIN) == 5.0
    assert math.isnan(metrics.micro_f1(Split.TEST))
