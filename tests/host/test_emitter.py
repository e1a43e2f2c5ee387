"""Instructions of forward passes, of every kind of network."""

import pytest

from tests.host.noted_programs import CASES, noted, summary


@pytest.mark.parametrize("name", CASES)
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
