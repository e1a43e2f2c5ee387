# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.files.reading.whole_numbers import whole_number, whole_numbers

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)


@given(INT64)
def test_numbers(value):
    assert whole_number(str(value)) == value


@pytest.mark.parametrize("text", [
    "", " 1", "1 ", "+1", "01", "-0", "1.0", "1e3", "1_000", "0x1", "½", "١", "nan", "-", "1\n",
    str(1 << 63), "-" + "9" * 19, "9" * 5000])
def test_other_spellings(text):
    with pytest.raises(ValueError, match="is no whole number"):
        whole_number(text)


@given(st.lists(INT64))
def test_lists(values):
    found = whole_numbers(values)
    assert found.dtype == np.int64 and found.tolist() == values


@pytest.mark.parametrize("values", [
    [1.0], [True], ["1"], [None], [[1]], [1 << 63], 1, {"1": 2}, "12", None])
def test_other_values(values):
    with pytest.raises(ValueError, match=r"is no (whole number|list)"):
        whole_numbers(values)
