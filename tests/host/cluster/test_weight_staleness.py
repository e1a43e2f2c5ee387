# SPDX-License-Identifier: BSD-2-Clause
"""By how many steps weights are older, as boards would train: a matter of stages."""

import pytest

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.balanced_runs import runs_of_layers
from hypercast.host.cluster.weight_staleness import weight_staleness
from tests.host.models import small_model

MODEL = small_model(hidden=(4, 3))


@pytest.mark.parametrize(("assignment", "expected"), [
    (Assignment(), ()), (Assignment(stages=1), ()), (Assignment(versions=2), (1, 1, 1)),
    (Assignment(stages=3), (2, 1, 0)), (Assignment(stages=3, versions=2), (2, 1, 0)),
    (Assignment(stages=2, runs=(range(1, 2), range(2, 4))), (1, 0, 0)),
    (Assignment(stages=2, runs=(range(1, 3), range(3, 4))), (1, 1, 0)),
    (Assignment(stages=3, runs=(range(1, 2), range(2, 4))), (2, 1, 0))])  # runs of other boards
def test_staleness_of_each_layer(assignment, expected):
    assert weight_staleness(assignment, MODEL) == expected


def test_runs_that_are_not_given_are_those_of_as_many_boards():
    runs = runs_of_layers(MODEL.network, MODEL.sample, 2)
    expected = tuple(2 - number for number, run in enumerate(runs, 1) for _ in run)
    assert weight_staleness(Assignment(stages=2), MODEL) == expected
