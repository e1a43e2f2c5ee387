"""Instructions of forward passes, of every kind of network."""

from types import SimpleNamespace

import pytest

from hypercast.host.compiler.emitter import Emitter
from hypercast.host.compiler.weights import Weights
from tests.host.noted_programs import CASES, noted, summary


@pytest.mark.parametrize("name", CASES)
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


@pytest.mark.parametrize(("panels", "chunks"), [(None, [0, 6]), ([0], [0]), ([1], [0, 6]),
                                                ([2], [6]), ([0, 2], [0, 6]), ([], [])])
def test_chunks_of_panels(panels, chunks):
    """Panels of four rows in chunks of six: the second panel is in both."""
    weights = Weights(name="W1", shape=(4, 6), base=0, height=4, panels=3, state=None,
                      chunks=tuple(SimpleNamespace(rows=range(first, first + 6))
                                   for first in (0, 6)))
    assert Emitter._weights(weights, panels) == [("weights", "W1", first) for first in chunks]
