# SPDX-License-Identifier: BSD-2-Clause
"""Exponents that tensors have in common."""

import pytest

from hypercast.reference.exponent_entries import exponent_entry
from hypercast.reference.tensor import Tensor


@pytest.mark.parametrize(("name", "entry"), [
    ("H2", "H2"), ("H1", "H1"), ("dM2", "dM"), ("dS5", "dM"), ("dU4", "dM"), ("R4", "W4"),
    ("S3.eval", "T3.eval"), ("dZ3", "dZ3"), ("dT3", "dT3")])
def test_gradients_of_the_first_layer_have_an_entry_in_common(name, entry):
    assert exponent_entry(Tensor.parse(name), initial=True) == entry


@pytest.mark.parametrize(("name", "alone", "jumping"), [
    ("X", "X", "X"), ("A", "A", "A"), ("b2", "b2", "b2"), ("Z3", "Z3", "Z3"), ("M2", "M2", "M2"),
    ("T2", "T2", "T2"), ("dT2", "dT2", "dT2"), ("dZ2", "dZ2", "dZ2"), ("one", "one", "one"),
    ("W12", "W12", "W12"), ("R12", "W12", "W12"), ("I2", "W2", "W2"), ("W3.12", "W3", "W3"),
    ("S2", "T2", "T2"), ("S2.eval", "T2.eval", "T2.eval"), ("T2.eval", "T2.eval", "T2.eval"),
    ("H2", "H2", "H"), ("H2.eval", "H2.eval", "H.eval"), ("M1.next", "M1.next", "M1.next"),
    ("dM2", "dM2", "dM"), ("dS2", "dM2", "dM"), ("dC2", "dC2", "dM"),
])
def test_entry(name, alone, jumping):
    tensor = Tensor.parse(name)
    assert exponent_entry(tensor) == alone
    assert exponent_entry(tensor, jumping=True) == jumping
