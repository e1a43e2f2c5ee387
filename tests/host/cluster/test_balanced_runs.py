# SPDX-License-Identifier: BSD-2-Clause
"""Runs of costs, and of layers."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.cluster.balanced_runs import balanced_runs, runs_of_layers
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import prepare
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9), st.data())
def test_runs_are_balanced_as_well_as_they_can_be(costs, data):
    count = data.draw(st.integers(1, len(costs)))
    runs = balanced_runs(costs, count)
    assert [number for run in runs for number in run] == list(range(len(costs)))
    assert len(runs) == count and all(runs)
    largest = max(sum(costs[number] for number in run) for run in runs)
    assert largest == min(
        max(sum(costs[start:end]) for start, end in itertools.pairwise((0, *cuts, len(costs))))
        for cuts in itertools.combinations(range(1, len(costs)), count - 1))


def test_runs_of_layers_are_those_planned_or_balanced():
    """Layers of 34 and 4 features, so that the first alone has most to do."""
    graph, network = Graph.load("karate"), Network.of_widths([34, 4, 4, 2])
    sample = prepare(graph, network, Recipe()).sample
    assert runs_of_layers(network, sample, 2) == [range(1, 2), range(2, 4)]
    assert runs_of_layers(network, sample, 2, [range(1, 3), range(3, 4)]) == [
        range(1, 3), range(3, 4)]
    assert runs_of_layers(network, sample, 1, [range(1, 3), range(3, 4)]) == [range(1, 4)]
