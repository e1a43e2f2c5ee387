# SPDX-License-Identifier: BSD-2-Clause
"""Layers are dealt to boards as evenly as they can be, and only where they fit."""

import itertools
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.description import load_cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.model import Model
from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.pipelines import evaluate, schedules_for
from hypercast.host.planner.plan import ANYTHING
from hypercast.host.planner.plan_file import plan_of_sections, plan_text
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.ranges import Ranges
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies import bapipe
from hypercast.reference.network import Network
from tests.host.planner.problems import cluster, problem
from tests.host.planner.test_pipelines import GRAPH, joined, networks

TIMES = st.lists(st.integers(1, 9), min_size=2, max_size=7)
CLOCKS = st.lists(st.sampled_from([1, 2, 4]), min_size=2, max_size=4)


def ways(layers, boards):
    """All ways to cut layers into runs, one for each board."""
    for cuts in itertools.combinations(range(1, layers), boards - 1):
        yield list(itertools.pairwise([0, *cuts, layers]))


@given(TIMES, CLOCKS)
def test_no_other_way_has_a_faster_slowest_board(times, clocks):
    training = problem(times, cluster(*clocks))
    stages = Ranges(training).balance(training.boards)
    if len(clocks) > len(times):
        assert stages is None
        return
    assert [layer for stage in stages for layer in stage.layers] == list(range(len(times)))
    best = min(max(sum(times[begin:end]) / clock
                   for (begin, end), clock in zip(way, clocks, strict=True))
               for way in ways(len(times), len(clocks)))
    slowest = max(sum(times[layer] for layer in stage.layers) / clock
                  for stage, clock in zip(stages, clocks, strict=True))
    assert slowest == pytest.approx(best)


def test_boards_have_what_fits():
    boards = cluster(1, 1, channel_words=1024)
    # The first of two boards has two micro-batches in flight.
    fits = problem([1, 1, 1], boards, footprint=Footprint(300, 300))
    assert [len(stage.layers) for stage in Ranges(fits).balance(boards.boards)] == [1, 2]
    assert Ranges(problem([1, 1, 1], boards, footprint=Footprint(600, 0))).balance(
        boards.boards) is None


def test_a_cut_that_the_link_cannot_carry_is_the_slowest_of_all():
    boards = cluster(1, 1, gigabits=8e-6)  # 1000 bytes in a second
    training = problem([2, 2, 2, 2], boards, output=50_000)
    assert len(Ranges(training).balance(boards.boards)) == 2
    assert training.graph.cut([0, 1], [2, 3]) == 50_000


def test_layers_are_split_by_columns():
    boards = load_cluster("u50-2")
    network = Network.of_widths([64, 64, 32, 4])
    training = Problem.of_network(boards, network, Statistics(
        vertices=(500,) * 4, edges=(3000,) * 3, sampled=True), micro_batches=4)
    assert training.splittable == (4, 2, 1)
    split = training.split((3, 1, 1))
    assert training.is_one_network and not split.is_one_network
    assert [layer.columns for layer in split.layers] == [21, 21, 22, 32, 4]
    assert split.edges == ((0, 3), (1, 3), (2, 3), (3, 4))
    whole, parts = (sum(one.output for one in which.graph.operators)
                    for which in (training, split))
    assert whole == parts
    assert split.graph.seconds(range(3), boards.boards[0]) >= training.graph.seconds(
        [0], boards.boards[0])
    for slices, text in (((5, 1, 1), "layer 1 can be split into 1 to 4 slices"),
                         ((1, 1, 2), "layer 3 can be split into 1 to 1"),
                         ((1, 1), "one number for each layer")):
        with pytest.raises(ValueError, match=text):
            training.split(slices)


@settings(max_examples=30, deadline=None)
@given(networks() | st.builds(
    Model, st.just("gcn"), residual=st.booleans(),
    hidden=st.sampled_from([(64, 64), (32, 64, 64)])), st.data())
def test_what_can_be_split_is_split(model, data):
    network = model.network(GRAPH)
    layers = len(network.layers)
    training = Problem.of_network(joined(100), network, Statistics.whole(500, 3000, layers))
    slices = [data.draw(st.integers(1, most)) for most in training.splittable]
    split = training.split(slices)
    assert len(split.layers) == sum(slices)
    assert sum(layer.columns for layer in split.layers) == sum(
        layer.features_out for layer in network.layers)
    assert split.graph.seconds(range(sum(slices)), training.boards[0]) > 0


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 6), st.integers(2, 4), st.integers(2, 8), st.integers(0, 3))
def test_no_other_number_of_boards_and_schedule_is_faster(layers, boards, batches, rest):
    """Also where the last step of an epoch has fewer samples."""
    training = Problem.of_network(
        joined(100, boards), Network.of_widths([128] * (layers + 1)), Statistics(
            vertices=(5000,) * (layers + 1), edges=(30_000,) * layers, sampled=True),
        micro_batches=batches, samples=batches + rest)
    [found] = bapipe.plans(training)
    for count in range(2, min(layers, boards) + 1):
        stages = Ranges(training).balance(training.boards[:count])
        for schedule in schedules_for(stages):
            assert found.seconds <= 1.0001 * evaluate(
                training, bapipe.DISCIPLINE, stages, schedule).seconds


def test_a_layer_that_is_too_much_for_a_board_is_split():
    training = Problem.of_network(load_cluster("u50-4"), Network.of_widths([512, 256, 16, 4]),
                                  Statistics(vertices=(4000,) * 4, edges=(400_000,) * 3,
                                             sampled=True), micro_batches=32)
    plan, whole = bapipe.plans(training)
    assert plan.split[0] > 1
    assert whole.trains == ANYTHING and not whole.split  # which is slower, and can be trained
    sections = tomllib.loads(plan_text(training, plan))
    again = plan_of_sections(sections, training)
    assert (again.split, again.shares) == (plan.split, plan.shares)
    assert again.seconds == pytest.approx(plan.seconds)
    sections["plan"]["split"] = [99, 1, 1]
    with pytest.raises(DescriptionError, match="split: layer 1 can be split into"):
        plan_of_sections(sections, training)
