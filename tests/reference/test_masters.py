import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.reference.masters import master_weights
from hypercast.reference.network import initial_parameters
from tests.host.models import small_model

UNIT = 2.0**-26


@given(st.integers(-(1 << 31), (1 << 31) - 1), st.floats(-0.499, 0.499))
def test_every_master_is_in_range(master, rest):
    assert master_weights([[(master + rest) * UNIT]], "W1").tolist() == [[master]]


@pytest.mark.parametrize("value", [
    32, 32 - UNIT / 4, -32 - UNIT, 40, 1e30, -1e300, np.inf, -np.inf, np.nan])
def test_out_of_range(value):
    values = np.zeros((3, 4))
    values[1, 2] = value
    with pytest.raises(ValueError, match=r"^W1\[1, 2\] is .*, but weights are at least -32 and b"):
        master_weights(values, "W1")


def test_other_types():
    with pytest.raises(ValueError, match="W1 is of type <U1; give real numbers"):
        master_weights(["1"], "W1")


@pytest.mark.parametrize(("change", "message"), [
    ({"W1": np.full((5, 4), 32.0)}, r"W1\[0, 0\] is 32, but"),
    ({"b2": np.array([0, np.nan, 0])}, r"b2\[1\] is nan"),
    ({"W1": np.zeros((4, 5))}, r"W1 has shape \(4, 5\), but the network's is \(5, 4\)"),
    ({"W3": np.zeros((4, 5))}, "initial values are of W1, b1, W2, b2, W3, but the network has W1"),
])
def test_initial_values(change, message):
    model = small_model()
    given = initial_parameters(model.network, 0) | change
    with pytest.raises(ValueError, match=message):
        type(model)(model.network, model.recipe, model.sample, parameters=given)
