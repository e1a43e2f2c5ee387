# SPDX-License-Identifier: BSD-2-Clause
"""Scores equal their definitions, counted class by class."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hypercast.host.training.scores import F1, accuracy, f1, macro_f1, measures
from hypercast.rtl.isa import Split

SHAPES = st.tuples(st.integers(1, 12), st.integers(1, 5))


def score(predicted, labels):
    """F1 of one class, from precision and recall."""
    hits = np.sum(predicted & labels)
    if hits == 0:
        return 0.0
    precision, recall = hits / predicted.sum(), hits / labels.sum()
    return 2 * precision * recall / (precision + recall)


@given(st.data(), st.integers(1, 12))
def test_one_class_per_vertex(data, vertices):
    predicted, labels = (data.draw(arrays(np.int64, vertices, elements=st.integers(0, 4)))
                         for _ in range(2))
    found = f1(predicted, labels)
    classes = np.union1d(predicted, labels)
    assert found.micro == pytest.approx(accuracy(predicted, labels))
    assert found.macro == pytest.approx(
        np.mean([score(predicted == one, labels == one) for one in classes]))
    assert accuracy(predicted, labels) == sum(predicted == labels) / vertices


@given(st.data(), SHAPES)
def test_several_classes_per_vertex(data, shape):
    predicted, labels = (data.draw(arrays(bool, shape)) for _ in range(2))
    found = f1(predicted, labels)
    assert found.micro == pytest.approx(score(predicted.ravel(), labels.ravel()))
    assert found.macro == pytest.approx(
        np.mean([score(*columns) for columns in zip(predicted.T, labels.T, strict=True)]))
    assert accuracy(predicted, labels) == sum(map(np.array_equal, predicted, labels)) / shape[0]


def test_known_values():
    # sklearn.metrics.f1_score([0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 0, 1]), from its documentation.
    found = f1([0, 2, 1, 0, 0, 1], [0, 1, 2, 0, 1, 2])
    assert found.micro == pytest.approx(1 / 3)
    assert found.macro == pytest.approx(0.8 / 3)


@pytest.mark.parametrize(("predicted", "labels", "message"), [
    ([0, 1], [0], r"shape \(2,\) do not fit labels of shape \(1,\)"),
    ([], [], "at least one"),
    ([0, 1], [0, -1], "a class is negative"),
    ([[[0]]], [[[0]]], "do not fit"),
])
def test_refusals(predicted, labels, message):
    for metric in (accuracy, f1):
        with pytest.raises(ValueError, match=message):
            metric(predicted, labels)


class Fixed:
    """Metrics that name what is asked; there are no vertices to validate."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        def value(split):
            self.asked.append((name, split))
            return float("nan") if split == Split.VALIDATION else 0.25
        return value


@pytest.mark.parametrize(("several", "score"), [(False, "accuracy"), (True, "micro_f1")])
def test_loss_and_score_of_each_split(several, score):
    """None stands for no vertices, as JSON has no other word for it."""
    metrics = Fixed()
    assert measures(metrics, several) == {
        f"{split}_{what}": None if split == "validation" else 0.25
        for split in ("train", "validation", "test") for what in ("loss", score)}
    assert {name for name, _ in metrics.asked} == {"mean_loss", score}


def test_macro_f1_of_each_split():
    labels = np.array([[1, 0], [0, 1], [1, 1], [0, 1]], dtype=bool)
    predicted = np.array([[1, 0], [1, 0], [1, 1], [1, 1]], dtype=bool)
    graph = SimpleNamespace(labels=labels, splits=np.array(
        [Split.TRAIN, Split.TRAIN, Split.TEST, Split.NONE]))
    assert macro_f1(predicted, graph) == {
        "train_macro_f1": pytest.approx((2 / 3 + 0) / 2), "validation_macro_f1": None,
        "test_macro_f1": 1.0}


def test_any_number_but_zero_marks_a_label():
    assert f1([[2, 0]], [[1, 0]]) == F1(micro=1.0, macro=0.5)
    assert accuracy([[3, 0]], [[1, 0]]) == 1
