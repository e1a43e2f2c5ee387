# SPDX-License-Identifier: BSD-2-Clause
"""Instructions of backward passes and updates."""

import pytest

from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("name", [
    "plain", "aggregated first", "dropout and Adam", "nothing bypassed", "two bypassed panels",
    "several strips", "word-sparse", "word-sparse, not held", "several labels", "GraphSAGE",
    "residual", "jumping", "orders that differ", "jumping in strips"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
