# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.reference.masters import master_weights

UNIT = 2.0**-26


@given(st.integers(-(1 << 31), (1 << 31) - 1), st.floats(-0.499, 0.499))
def test_every_master_is_in_range(master, rest):
    assert master_weights([[(master + rest) * UNIT]], "W1").tolist() == [[master]]


@pytest.mark.parametrize("value", [
    32, 32 - UNIT / 4, -32 - UNIT, 40, 1e30, -1e300, np.inf, -np.inf])
def test_out_of_range(value):
    values = np.zeros((3, 4))
    values[1, 2] = value
    with pytest.raises(ValueError, match=r"^W1\[1, 2\] is .*, but weights are at least -32 and b"):
        master_weights(values, "W1")


def test_what_is_not_a_number():
    with pytest.raises(ValueError, match=r"^W1\[1\] is nan, which is no weight; train again"):
        master_weights([0.0, np.nan], "W1")


def test_other_types():
    with pytest.raises(ValueError, match="W1 is of type <U1; give real numbers"):
        master_weights(["1"], "W1")
