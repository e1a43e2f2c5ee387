# SPDX-License-Identifier: BSD-2-Clause
"""Boards that train by any plan of any training take what the plan expects."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.benches.plan_trainings import PlannedTrial, seconds_of
from hypercast.host.cluster.description import load_cluster
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import blocks
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner.plan import NOT_YET
from hypercast.host.planner.search import search
from hypercast.host.training.planning import problem_of
from tests.host.processes.thread_group import on_ranks

MODELS = [("gcn", {}), ("gcn", {"jumping": True}), ("gcn", {"residual": True}), ("sage", {}),
          ("gcnii", {}), ("mixhop", {}), ("sign", {})]
SUBGRAPHS = [Sampling(sampler="walks", batch=20, coverage=6.0),
             Sampling(sampler="walks", batch=60, coverage=6.0),
             Sampling(sampler="nodes", batch=200, coverage=4.0)]
NEIGHBOURS = Sampling(sampler="neighbours", batch=50, fan_outs=(4, 2))


def joined(vertices, degrees):
    """A graph with as many vertices of each mean degree, and few edges in between."""
    sizes = np.diff(np.linspace(0, vertices, len(degrees) + 1).astype(int)).tolist()
    graphs = [Graph(**blocks(vertices=size, degree=degree))
              for size, degree in zip(sizes, degrees, strict=True)]
    step = -(-vertices // len(degrees))
    between = scipy.sparse.eye_array(vertices, k=step) + scipy.sparse.eye_array(vertices, k=-step)
    apart = scipy.sparse.block_diag([graph.edges for graph in graphs])
    return Graph(edges=scipy.sparse.csr_array((apart + between) if len(degrees) > 1 else apart),
                 features=np.concatenate([graph.features for graph in graphs]),
                 labels=np.concatenate([graph.labels for graph in graphs]),
                 splits=np.concatenate([graph.splits for graph in graphs]))


@st.composite
def trainings(draw):
    """A training without a plan; graphs are as dense everywhere, or not."""
    vertices, degrees = draw(st.integers(500, 2500)), draw(st.sampled_from(
        [(6.0,), (12.0,), (40.0,), (3.0, 40.0)]))
    name, more = draw(st.sampled_from(MODELS))
    model = Model(name, layers=4 if name in ("mixhop", "sign") else draw(st.integers(3, 8)),
                  hidden=(draw(st.sampled_from([16, 24, 64, 128])),), order=("combine_first",),
                  dropout=(draw(st.sampled_from([0.0, 0.5])),), **more)
    same = more or name in ("gcnii", "mixhop", "sign")  # all layers have the same vertices
    samplings = SUBGRAPHS if same else [*SUBGRAPHS, NEIGHBOURS]
    options = {"sampling": draw(st.sampled_from(samplings)), "recipe": {
        "micro_batches": draw(st.integers(2, 8)), "epochs": 4}} if draw(st.booleans()) else {
        "recipe": {"epochs": 24}}  # rows of the last step cross while no one waits
    options["recipe"]["learning_rate"] = 1e-3

    def graph():
        number = np.arange(vertices)
        return joined(vertices, degrees).with_splits(
            train=number % 3 > 0, validation=number % 3 == 0)

    cluster = draw(st.sampled_from(["vcu128-4", "vcu128-4-slow", "u50-4", "mixed"]))
    first = 2 if cluster == "mixed" else 0  # of unequal boards, some of each kind
    boards = load_cluster(cluster).boards[first:first + draw(st.integers(2, 4))]
    return PlannedTrial(name="", graph=graph, model=model, plan=lambda problem: "", **options,
                        cluster=cluster, names=tuple(board.name for board in boards))


def check(trial):
    cluster, count = trial.boards(), len(trial.names)
    problem = problem_of(trial.description(cluster), cluster, trial.graph())
    for plan in search(problem).plans:
        if plan.trains != NOT_YET and len(plan.boards) == count:
            planned = replace(trial, plan=lambda problem, plan=plan: plan)
            [(expected, taken)] = on_ranks(
                count, lambda group, planned=planned: list(seconds_of(planned, group)))[0]
            assert expected == pytest.approx(taken, rel=0.05), plan.strategy


@settings(max_examples=2, deadline=None)
@given(trainings())
def test_random_plans(trial):
    check(trial)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=30, deadline=None)
@given(trainings())
def test_many_random_plans(trial):
    check(trial)
