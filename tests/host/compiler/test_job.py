"""Jobs: where parameters lie."""

import pytest

from hypercast.host.compiler.job import Weights
from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("name", ["plain", "residual", "dropout and Adam"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


def test_parts_of_panels():
    """Of rows 3 to 8 in panels of four rows."""
    weights = Weights(name="W1", shape=(4, 6), base=0, height=4, panels=3, state=None, chunks=())
    assert list(weights.parts(range(3, 9))) == [(0, range(3, 4)), (1, range(4)), (2, range(1))]
    assert list(weights.parts(range(4, 8))) == [(1, range(4))]
    assert (weights.rows, weights.state_values) == (12, 2)
    adam = Weights(**{**vars(weights), "adam": True})
    assert adam.state_values == 3
