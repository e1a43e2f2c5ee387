# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.recipe import Recipe
from hypercast.reference.weight_operands import weight_operands
from hypercast.rtl.isa import MASTER_EXPONENT
from tests.reference.random_data import OTHERS, data, network


@pytest.mark.parametrize("net", [network(), *OTHERS.values()])
@pytest.mark.parametrize("width", [8, 16])
def test_operands_are_masters_in_their_exponent(net, width):
    """Rounded half to even, and what an update leaves."""
    gnn = FixedGnn.of(net, Recipe(element_width=width), *data())
    for _ in range(3):
        gnn.train_step()
    state = gnn.state()
    found = weight_operands(net, width, state)
    assert list(found) == list(state.parameters)
    for name, operand in found.items():
        assert np.array_equal(operand, gnn.tensors[name])
        unit = 2.0 ** (state.exponents[net.exponent_entry(name)][0] - MASTER_EXPONENT)
        limit = 1 << width - 1
        expected = np.clip(np.rint(state.parameters[name]["master"] / unit), -limit, limit - 1)
        assert np.array_equal(operand, expected)
