# SPDX-License-Identifier: BSD-2-Clause
"""What boards are given of a whole graph: parts of it, or all of it."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import Cluster, load_cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.model import Model
from hypercast.host.graphs.datasets import blocks
from hypercast.host.graphs.graph import Graph
from hypercast.host.schemes.share import graph_shares
from hypercast.host.training.prepare import prepare
from hypercast.reference.recipe import Recipe

GRAPH = Graph(**blocks(vertices=120))
MODEL = prepare(GRAPH, Model(hidden=(6, 6)).network(GRAPH), Recipe())


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 8), st.sampled_from([None, 0.0, 0.5]))
def test_each_board_has_a_part(boards, smoothing):
    shares, *pickled = graph_shares(MODEL, Assignment(scheme="graph", smoothing=smoothing), None,
                                    boards)
    assert shares.alone == 0 and len(shares.division.edges) == boards
    parts = [pickle.loads(one) for one in pickled]
    ranks = [part.sample.rows_here.ranks for part in parts]
    assert np.array_equal(np.sort(np.concatenate(ranks)), np.arange(GRAPH.vertices))
    assert [part.sample.edges[0].nnz for part in parts] == shares.division.edges.tolist()
    assert all(part.network == MODEL.network for part in parts)


@pytest.mark.parametrize("chunks", [0, 3])
def test_all_have_all_layers_edges(chunks):
    shares, model = graph_shares(MODEL, Assignment(scheme="layers", chunks=chunks), None, 2)
    assert shares == (None, 0.0)
    assert model.sample.edges is MODEL.sample.edges
    assert (model is MODEL) == (chunks == 0)


def test_a_cluster_says_what_one_board_would_take_and_hold():
    assignment = Assignment(scheme="graph")
    seconds = [next(graph_shares(MODEL, assignment, load_cluster("vcu128-4"), boards)).alone
               for boards in (2, 4)]
    assert seconds[0] == seconds[1] > 0
    small = Cluster.of_sections({
        "boards": {"small": {"board": "vcu128", "count": 2, "channel_words": 64}},
        "links": {"network": {"gigabits": 100.0}}})
    with pytest.raises(DescriptionError, match="for its share"):
        next(graph_shares(MODEL, assignment, small, 2))
