"""How input features are stored, and what products of them take."""

import pytest

from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("name", [
    "plain", "word-sparse", "word-sparse, not held", "aggregated first"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
