# SPDX-License-Identifier: BSD-2-Clause
"""The bench of the planner: schedules agree, workloads have plans, factors name where they are."""

import pytest

from hypercast.benches import planner
from hypercast.benches.plan_workloads import CLUSTERS, WORKLOADS, branch
from hypercast.host.cluster.description import load_cluster
from hypercast.host.planner.search import search


def test_schedules_are_as_derived():
    [figure] = planner._schedules()
    assert figure.passed
    assert figure.value > 40


def test_there_are_workloads_for_every_cluster():
    assert set(WORKLOADS) == set(CLUSTERS)


def test_branches_lie_between_a_first_and_a_last_layer():
    problem = branch(load_cluster("vcu128-2"), branches=3, length=2)
    assert len(problem.layers) == 8
    assert [one for one in problem.edges if one[0] == 0] == [(0, 1), (0, 3), (0, 5)]
    assert [one for one in problem.edges if one[1] == 7] == [(2, 7), (4, 7), (6, 7)]


def test_factors_name_where_a_system_gains_and_loses():
    name, cluster = "small graph", "ulx3s-4"
    comparison = search(WORKLOADS[cluster][name](load_cluster(cluster)))
    figures = list(planner._factors("GNNPipe", {(name, cluster): comparison}))
    assert [figure.name.split(": ")[1] for figure in figures] == [
        f"{kind}, {name}, {cluster}" for kind in ("best", "worst")]
    slower = []
    assert list(planner._choose(name, comparison, slower))
    assert slower == [pytest.approx(1), pytest.approx(1)]
