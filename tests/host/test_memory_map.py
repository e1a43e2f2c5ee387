"""Where everything lies in the memory channels."""

import pytest

from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("name", [
    "plain", "several tiles", "sixteen cores", "jumping"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
