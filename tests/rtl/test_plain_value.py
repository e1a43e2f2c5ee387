# SPDX-License-Identifier: BSD-2-Clause
"""Scalars of NumPy are the plain values that they hold, and what is no number is none."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.rtl.plain_value import plain_float, plain_int, plain_value

INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


@given(st.integers(0, 127), st.sampled_from(INTEGERS))
def test_whole_numbers(value, kind):
    for form in (kind(value), np.array(value, kind), value):
        assert type(plain_int(form)) is int and plain_int(form) == value
        assert type(plain_float(form)) is float and plain_float(form) == value


@given(st.floats(width=16, allow_nan=False))
def test_real_numbers(value):
    for kind in (np.float16, np.float32, np.float64, np.longdouble):
        for form in (kind(value), np.array(value, kind)):
            assert type(plain_float(form)) is float and plain_float(form) == value
            with pytest.raises(TypeError):
                plain_int(form)


def test_other_scalars():
    assert plain_value(np.bool_(True)) is True and plain_value(np.array(False)) is False
    assert type(plain_value(np.str_("gcn"))) is str and plain_value(np.array("gcn")) == "gcn"
    assert math.isnan(plain_float(np.float32("nan"))) and plain_float(Fraction(1, 8)) == 0.125


@pytest.mark.parametrize("value", [
    True, np.bool_(True), "1", np.str_("1"), None, [1], np.array([1]), np.array([[1]]), 1j,
    np.complex64(1), Decimal(1), np.datetime64(1, "s"), np.datetime64(1, "ns"),
    np.timedelta64(1, "s"), np.timedelta64(1, "ns"), np.array(1, "m8[ns]"), np.ma.masked,
    np.ma.array(1.0, mask=True), b"1", object()])
def test_what_is_no_number(value):
    with pytest.raises(TypeError):
        plain_int(value)
    with pytest.raises(TypeError):
        plain_float(value)


@pytest.mark.parametrize("value", [
    10**400, Fraction(10**400), np.longdouble("1e4000"), Fraction(1, 10**400),
    np.longdouble("1e-4000")])
def test_what_no_float_holds(value):
    with pytest.raises(TypeError):
        plain_float(value)


def test_objects_that_answer_with_errors_are_no_numbers():
    class Hostile:
        def __getattr__(self, name):
            raise KeyError(name)

    hostile = Hostile()
    assert plain_value(hostile) is hostile
    with pytest.raises(TypeError):
        plain_int(hostile)
