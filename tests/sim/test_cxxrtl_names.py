# SPDX-License-Identifier: BSD-2-Clause
"""Names of ports as CXXRTL makes them."""

import pytest

from hypercast.sim.cxxrtl_names import cxx_name


@pytest.mark.parametrize("name, expected", [
    ("valid", "p_valid"), ("axi__awaddr", "p_axi____awaddr"), ("a.b$3", "p_a_2e_b_24_3")])
def test_names(name, expected):
    assert cxx_name(name) == expected
