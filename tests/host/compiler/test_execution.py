"""Predicted cycles, those of every phase."""

import pytest

from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("name", [
    "plain", "several strips", "sixteen cores", "slow memory", "residual", "dropout and Adam"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
