"""Rows and tiles of vertices."""

import pytest

from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("name", ["plain", "several tiles", "one core", "sixteen cores"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
