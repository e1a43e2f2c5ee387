"""What bypasses memory, and where."""

import pytest

from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("name", [
    "plain", "nothing bypassed", "two bypassed panels", "residual"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
