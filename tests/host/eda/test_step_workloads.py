# SPDX-License-Identifier: BSD-2-Clause
"""Workloads of steps, for every configuration that is tried."""

import numpy as np
import pytest

from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.eda.step_workloads import GraphSteps
from hypercast.host.graphs.graph import Graph
from hypercast.reference.network import COMBINE_FIRST, Network
from hypercast.reference.recipe import Recipe
from tests.host.compiler.random_networks import ROOMY

NETWORK = Network.of_widths([8, 4, 3], orders=COMBINE_FIRST)


def graph(*, several):
    labels = np.arange(60) % 3
    return Graph.from_edges(
        [[v, (v + 1) % 60] for v in range(60)], np.eye(60, 8),
        labels[:, None] == np.arange(3) if several else labels, train=range(40))


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("fastest", [False, True])
def test_steps_on_a_graph(several, fastest):
    """Whatever labels it has; edges are compiled once for configurations that do not change them.
    """
    steps = GraphSteps(graph(several=several), NETWORK, Recipe(), fastest=fastest)
    first = steps(ROOMY)
    assert first.config == ROOMY and (fastest or first.network == NETWORK)
    assert steps(ROOMY.replace(read_buffer=64)).config.read_buffer == 64
    assert len(steps._edges) == 1
    assert steps(ROOMY.replace(planes=2)).config.planes == 2
    assert len(steps._edges) == 2


def test_what_cannot_be_loaded_is_refused():
    with pytest.raises(CapacityError, match="program_rows"):
        GraphSteps(graph(several=False), NETWORK, Recipe())(ROOMY.replace(program_rows=16))
