# SPDX-License-Identifier: BSD-2-Clause
"""Tensors that share an exponent."""

import numpy as np
import pytest

from hypercast.reference.fixed_tensors import FixedTensors
from hypercast.reference.tensor import Kind, Tensor

A, B, C = (Tensor(Kind.HIDDEN, layer) for layer in (1, 2, 3))
SMALL, LARGE = np.array([[3, -100]]), np.array([[5000, 2]])


@pytest.fixture
def tensors():
    """A and B have one exponent, C has its own."""
    return FixedTensors(8, lambda name: 0, lambda name: {B: A}.get(name, name))


def test_first_one_opens(tensors):
    for _ in range(2):
        tensors.begin()
        assert [tensors.opens(name) for name in (A, C, B, A)] == [True, True, False, False]


def test_the_largest_counts_in_the_next_program(tensors):
    tensors.begin()
    for name, sums in ((A, SMALL), (B, LARGE)):
        tensors.store(name, sums, 0)
    assert tensors.saturations == {A: 0, B: 1}
    assert tensors.exponents.peak(A) == tensors.exponents.peak(B) == 13
    tensors.begin()
    for name, sums in ((A, SMALL), (B, LARGE)):
        tensors.store(name, sums, 0)
        assert tensors.exponents[name] == 13 - 7
    assert tensors.mantissas[A].tolist() == [[0, -2]]
    assert tensors.mantissas[B].tolist() == [[78, 0]]
    assert tensors.saturations[B] == 1


@pytest.mark.parametrize(("order", "trials"), [((A, B), 2), ((B, A), 1)])
def test_calibration_is_tried_until_the_largest_fits(tensors, order, trials):
    sums = dict(zip(order, (SMALL, LARGE) if trials == 2 else (LARGE, SMALL), strict=True))
    tried = []

    def program():
        tried.append(order)
        tensors.saturations.clear()
        tensors.begin()
        for name, values in sums.items():
            tensors.store(name, values, 0)

    for _ in range(2):  # what an earlier program has found does not count
        tried.clear()
        tensors.calibrate_during(program)
        assert len(tried) == trials
    assert tensors.exponents[A] == 13 - 7
    assert tensors.exponents.peak(A) is None
    assert not +tensors.saturations
    assert {name: abs(tensors.mantissas[name]).max() for name in order} == {
        name: 2 if values is SMALL else 78 for name, values in sums.items()}
