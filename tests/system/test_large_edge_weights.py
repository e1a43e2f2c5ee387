# SPDX-License-Identifier: BSD-2-Clause
"""Graphs of so many edges that their largest weights, beside the small ones, are several edges."""

import numpy as np
import pytest

from tests.system.chips import NARROW, ModelTraining, random_graph


@pytest.mark.grid
@pytest.mark.parametrize("order", ["combine_first", "aggregate_first"])
@pytest.mark.parametrize(("variant", "roots"), [
    (("gcn", {}), False), (("sage", {}), True),
    pytest.param(("gcn", {"residual": True}), True, marks=pytest.mark.slow)])
def test_training(variant, roots, order):
    """Vertices with many neighbours, and some with none or one."""
    graph = random_graph(96, 4000, isolated=6, directed=variant[0] == "sage")
    training = ModelTraining(graph=graph, config=NARROW, variant=variant, order=order,
                             dropout=0.0)
    sample = training.model().sample
    assert np.abs(sample.edges[0].data).max(initial=sample.root_weight) > 127
    assert bool(sample.root_weight) == roots
    training.check()
