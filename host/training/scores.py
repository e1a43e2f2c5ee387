# SPDX-License-Identifier: BSD-2-Clause
"""Accuracy and F1 of predictions, of one class per vertex or of several, and of each split.

F1 is the harmonic mean of precision and recall, ``2 TP / (2 TP + FP + FN)``: *micro* of the counts
of all classes summed up, *macro* the mean over the classes.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hypercast.errors import InputError
from hypercast.host.graphs.graph_outline import Labelled
from hypercast.reference.array_types import BoolArray, IntArray
from hypercast.reference.metrics import Metrics
from hypercast.rtl.isa import Split

__all__ = ["F1", "accuracy", "f1", "macro_f1", "measures"]

_SPLITS = (Split.TRAIN, Split.VALIDATION, Split.TEST)


class F1(NamedTuple):
    """F1 scores between 0 and 1.

    Attributes
    ----------
    micro, macro : float
        With one class per vertex, micro F1 equals accuracy.
    """

    micro: float
    macro: float


def accuracy(predicted: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Share of vertices whose labels are all predicted correctly.

    Parameters
    ----------
    predicted, labels : (V,) arrays of int, or (V, C) arrays of bool
        Classes, from 0.

    Raises
    ------
    InputError
        If they do not fit each other, or there are none.
    """
    predicted, labels = _check(predicted, labels)
    equal = predicted == labels
    return float(np.mean(equal if equal.ndim == 1 else equal.all(axis=1)))


def f1(predicted: npt.ArrayLike, labels: npt.ArrayLike) -> F1:
    """The ``F1`` scores; parameters as of ``accuracy``.

    A class counts in macro F1 if it is predicted or meant somewhere, or if it is a column; a column
    that is neither predicted nor meant then has F1 0.
    """
    predicted, labels = _check(predicted, labels)
    if labels.ndim == 1:
        classes = max(predicted.max(), labels.max()) + 1
        hits = np.bincount(labels[predicted == labels], minlength=classes)
        marks = (np.bincount(predicted, minlength=classes)
                 + np.bincount(labels, minlength=classes))
        hits, marks = hits[marks > 0], marks[marks > 0]
    else:
        hits = np.count_nonzero(predicted & labels, axis=0)
        marks = np.count_nonzero(predicted, axis=0) + np.count_nonzero(labels, axis=0)
    scores = 2 * hits / np.maximum(marks, 1)
    return F1(micro=float(2 * hits.sum() / max(marks.sum(), 1)), macro=float(scores.mean()))


def measures(metrics: Metrics, several: bool) -> dict[str, float | None]:
    """Loss of each split, and accuracy or, of ``several`` labels, micro F1; None if it is empty."""
    found = {}
    for split in _SPLITS:
        name = split.name.lower()
        found[f"{name}_loss"] = metrics.mean_loss(split)
        if several:
            found[f"{name}_micro_f1"] = metrics.micro_f1(split)
        else:
            found[f"{name}_accuracy"] = metrics.accuracy(split)
    return {name: None if value != value else value for name, value in found.items()}


def macro_f1(predicted: IntArray | BoolArray, graph: Labelled) -> dict[str, float | None]:
    """Macro F1 of each split of a graph with several labels per vertex; None if it is empty."""
    rows = {split: graph.splits == split for split in _SPLITS}
    return {f"{split.name.lower()}_macro_f1": f1(predicted[own], graph.labels[own]).macro
            if own.any() else None for split, own in rows.items()}


def _check(predicted: npt.ArrayLike,
           labels: npt.ArrayLike) -> tuple[IntArray, IntArray] | tuple[BoolArray, BoolArray]:
    predicted, labels = np.asarray(predicted), np.asarray(labels)
    if predicted.shape != labels.shape or labels.size == 0 or labels.ndim > 2:
        raise InputError(f"predictions of shape {predicted.shape} do not fit labels of shape "
                         f"{labels.shape}; give both per vertex, of at least one")
    if labels.ndim == 2:
        return predicted.astype(bool), labels.astype(bool)
    if min(predicted.min(), labels.min()) < 0:
        raise InputError("a class is negative; leave out vertices without a label")
    return predicted, labels
