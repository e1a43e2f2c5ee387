"""Chunks of a whole graph through layers, as the planner has them."""

from hypercast.host.cluster.description import load_cluster
from hypercast.host.planner.plan import REFERENCES, Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies import gnnpipe
from hypercast.reference.network import Network


def problem(vertices, layers=4, sampled=False):
    statistics = Statistics(vertices=(vertices,) * (layers + 1), edges=(vertices * 8,) * layers,
                            sampled=sampled)
    return Problem.of_network(load_cluster("vcu128-4"), Network.of_widths([32] * (layers + 1)),
                              statistics)


def test_boards_work_on_different_chunks_at_the_same_time():
    [plan] = gnnpipe.plans(problem(20000))
    assert isinstance(plan, Plan)
    assert plan.trains == REFERENCES and not plan.exact
    assert plan.pieces > 1 and plan.schedule == "GPipe"
    whole = problem(20000).graph
    assert plan.seconds < 0.8 * whole.seconds(range(4), problem(20000).boards[0])


def test_there_are_no_more_chunks_than_vertices():
    [plan] = gnnpipe.plans(problem(3))
    assert plan.pieces == 2
    [refusal] = gnnpipe.plans(problem(1))
    assert "no run of layers" in refusal.reason


def test_samples_have_no_chunks():
    [refusal] = gnnpipe.plans(problem(500, sampled=True))
    assert "leave --sampler out" in refusal.reason
