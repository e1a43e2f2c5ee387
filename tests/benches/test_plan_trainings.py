# SPDX-License-Identifier: BSD-2-Clause
"""Plans against what boards' clocks say, in the bench of the planner."""

import pytest

from hypercast.benches.plan_trainings import BOARDS, TRAININGS, seconds_of
from tests.host.processes.thread_group import on_ranks


def test_names_are_different_and_every_scheme_is_there():
    names = {training.name for training in TRAININGS}
    assert len(names) == len(TRAININGS) >= 12
    assert {name.split()[0].strip(",") for name in names} == {
        "samples", "graph", "layers", "vertex"}


@pytest.mark.parametrize("name", ["graph in parallel, ulx3s-4", "layers, SO, vcu128-4",
                                  "layers, stashed weights, vcu128-4",
                                  "layers, chunks of the graph, vcu128-4"])
def test_a_step_takes_what_was_planned(name):
    [training] = [one for one in TRAININGS if one.name == name]
    found = on_ranks(BOARDS, lambda group: list(seconds_of(training, group)))
    [(planned, taken)] = found[0]
    assert planned == pytest.approx(taken, rel=0.05)
    assert found[1:] == [[]] * (BOARDS - 1)
