"""Pipelines are planned with what really crosses, and take what boards' clocks then say."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.layer_crossings import crossings
from hypercast.host.graphs.datasets import blocks
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner.pipelines import BoardStage, evaluated
from hypercast.host.planner.plan import ANYTHING
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies import bapipe, pipedream
from hypercast.host.training.description.description import Description
from hypercast.host.training.description.device import Device
from hypercast.host.training.description.model import Model
from hypercast.host.training.description.recipe import make_recipe
from hypercast.host.training.description.sampling import Sampling
from hypercast.host.training.planning import assignment_of, problem_of
from hypercast.host.training.trainer import Trainer
from hypercast.reference.tensor import Kind
from tests.host.cluster.thread_group import on_ranks

GRAPH = Graph.load("blocks")
SAMPLING = Sampling(sampler="walks", batch=200, coverage=2.0)
MODELS = [("gcn", {}), ("gcn", {"residual": True}), ("sage", {}), ("gin", {}),
          ("gcnii", {"dropout": (0.5,)}), ("mixhop", {"dropout": (0.5,)})]


def joined(gigabits, count=4):
    """Boards whose links are as slow as one likes."""
    return Cluster.of_sections({
        "boards": {"one": {"board": "vcu128", "count": count, "host_gigabits": gigabits,
                           "host_microseconds": 1}},
        "links": {"network": {"gigabits": gigabits, "microseconds": 1}}})


@st.composite
def networks(draw):
    """Models of two to seven layers, many of them with jumping knowledge, branches or initial
    residuals.
    """
    name, more = draw(st.sampled_from(MODELS))
    jumping = name not in ("gcnii", "mixhop") and draw(st.sampled_from([True, True, False]))
    if jumping:
        more = {"dropout": (0.5,)}
    hidden = tuple(draw(st.lists(st.sampled_from([8, 24, 64]), min_size=2, max_size=5)))
    if name == "mixhop":
        hidden = (*hidden, 24)[:4]
    if "residual" in more or name == "gcnii":
        hidden = hidden[:1] * len(hidden)
    return Model(name, hidden=hidden, jumping=jumping, order=draw(st.sampled_from(
        [("auto",), ("combine_first",)])), **more)


@st.composite
def runs_of(draw, layers, most=4):
    """Runs of layers, from 1."""
    count = draw(st.integers(2, min(most, layers)))
    cuts = sorted(draw(st.permutations(range(1, layers)))[:count - 1])
    return [range(begin + 1, end + 1) for begin, end in pairwise([0, *cuts, layers])]


@settings(max_examples=6, deadline=None)
@given(st.data())
def test_a_step_takes_what_was_planned(data):
    model, boards = data.draw(networks()), joined(data.draw(st.sampled_from([0.3, 3, 100])))
    count = data.draw(st.integers(1, 6))
    recipe = {"micro_batches": count, "epochs": 1}
    problem = problem_of(Description(model=model, sampling=SAMPLING, recipe=make_recipe(
        recipe, model, Device().config)), boards, GRAPH, counts=[])
    runs = data.draw(runs_of(len(problem.layers)))
    plan = evaluated(problem, bapipe.DISCIPLINE, [
        BoardStage(tuple(number - 1 for number in run), (board,))
        for run, board in zip(runs, boards.boards, strict=False)],
        data.draw(st.sampled_from(["SNO", "SO", "GPipe", "paths"])))
    assert plan.trains == ANYTHING
    planned = replace(model, order=tuple(
        layer.order for layer in problem.layers[0].network.layers))

    def seconds(group):
        trainer = Trainer(GRAPH, planned, group=group, sampling=SAMPLING, cluster=boards,
                          assignment=assignment_of(plan), **recipe)
        if group.rank:
            return trainer.follow()
        with trainer:
            trainer.fit()
            time = trainer.virtual_time()
            return time.seconds / time.steps

    assert plan.seconds == pytest.approx(on_ranks(len(runs), seconds)[0], rel=0.005)


@given(st.data())
def test_stages_send_what_crosses_between_boards(data):
    model, vertices = data.draw(networks()), data.draw(st.integers(1, 50))
    network = model.network(GRAPH)
    layers = len(network.layers)
    problem = Problem.of_network(
        joined(1), network, Statistics.whole(vertices, vertices, layers))
    runs = data.draw(runs_of(layers, most=layers))
    for forward in (True, False):
        expected = {}
        for tensor, source, target, masked in crossings(network, runs, forward=forward):
            layer = network.layers[tensor.layer - 1]
            of_input = tensor.kind == Kind.PARTIAL_GRADIENT
            elements = vertices * (layer.features_in if of_input else layer.features_out)
            assert masked <= (tensor.kind == Kind.HIDDEN)
            expected[source, target] = expected.get((source, target), 0) + 2 * elements \
                + masked * -(-elements // 8)
        for one, first in enumerate(runs):
            for other, second in enumerate(runs):
                found = problem.graph.crossing(
                    [number - 1 for number in first], [number - 1 for number in second],
                    forward=forward) if one < other else 0
                ends = (one, other) if forward else (other, one)
                assert one >= other or found == expected.pop(ends, 0)
        assert not expected


@settings(max_examples=8, deadline=None)
@given(networks())
def test_boards_agree_on_as_many_entries_as_there_are(model):
    recipe = make_recipe({}, model, Device().config)
    problem = problem_of(Description(model=model, recipe=recipe), joined(1), GRAPH, counts=[])
    planned = replace(model, order=tuple(
        layer.order for layer in problem.layers[0].network.layers))
    with Trainer(GRAPH, planned, epochs=1) as trainer:
        assert problem.entries == len(trainer.target.state().exponents)


@settings(max_examples=6, deadline=None)
@given(st.sampled_from([pipedream.DISCIPLINE, pipedream.TWO_VERSIONS]), st.integers(2, 4),
       st.integers(80, 600), st.sampled_from([0.3, 100]))
def test_a_pipeline_without_a_flush_is_filled_once_an_epoch(discipline, boards, batch, gigabits):
    """However few samples an epoch has."""
    graph = Graph(**blocks(vertices=1500))
    cluster, model = joined(gigabits), Model(hidden=(24,) * 3, order=("combine_first",))
    sampling = Sampling(sampler="walks", batch=batch, coverage=2.0)
    recipe = {"micro_batches": boards, "epochs": 5}
    problem = problem_of(Description(model=model, sampling=sampling, recipe=make_recipe(
        recipe, model, Device().config)), cluster, graph, counts=[])
    plan = evaluated(problem, discipline, [
        BoardStage(tuple(range(number, number + 1 if number < boards - 1 else 4)), (board,))
        for number, board in enumerate(cluster.boards[:boards])], "SNO")

    def seconds(group):
        trainer = Trainer(graph, model, group=group, sampling=sampling, cluster=cluster,
                          assignment=assignment_of(plan), **recipe)
        if group.rank:
            return trainer.follow()
        with trainer:
            for _ in range(2):  # of which the first steps are synchronous
                trainer.step()
            begun = trainer.virtual_time().seconds
            trainer.fit()
            return trainer.virtual_time().seconds - begun

    steps = -(-problem.samples // problem.micro_batches)
    assert plan.seconds == pytest.approx(on_ranks(boards, seconds)[0] / 3 / steps, rel=0.05)
