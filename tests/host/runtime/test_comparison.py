# SPDX-License-Identifier: BSD-2-Clause
"""Words are counted as they lie in memory."""

import numpy as np
import pytest

from hypercast.host.runtime.comparison import Comparison, compare


def tensors(**changes):
    return {"A": np.arange(10).reshape(2, 5), "b": np.zeros((1, 4), dtype=int)} | changes


def test_equal():
    result = compare(tensors(), tensors(), lanes=2)
    assert (result.equal, result.words, result.first_difference) == (8, 8, "")
    assert str(result) == "RTL = reference, 8 of 8 words"


def test_difference():
    changed = tensors()["A"].copy()
    changed[1, 2:4] = -1  # one word
    changed[1, 4] = -2  # the last word of the row, which is not full
    result = compare(tensors(), tensors(A=changed), lanes=2)
    assert (result.equal, result.words) == (6, 8)
    assert str(result) == \
        "RTL ≠ reference, 6 of 8 words; first difference: A[1, 2] is -1, expected 7"


def test_sum_keeps_the_first_difference():
    total = Comparison()
    for part in (Comparison(1, 1), Comparison(1, 2, "here"), Comparison(0, 1, "there")):
        total.add(part)
    assert total == Comparison(2, 4, "here")


def test_other_tensors():
    with pytest.raises(ValueError, match="only one device has A, c"):
        compare(tensors(), {"b": tensors()["b"], "c": tensors()["b"]}, lanes=2)
    with pytest.raises(ValueError, match=r"A has shape \(2, 5\) in the reference, \(1, 4\) on"):
        compare(tensors(), tensors(A=tensors()["b"]), lanes=2)
