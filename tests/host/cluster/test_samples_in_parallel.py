"""Boards that share the samples of a step train the same bits as one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.description.conversion import DescriptionError
from hypercast.host.training.description.model import Model
from hypercast.host.training.description.sampling import Sampling
from hypercast.host.training.trainer import Trainer
from hypercast.reference.models import MODELS
from hypercast.reference.recipe import OPTIMISERS
from tests.host.cluster.thread_group import ThreadGroup
from tests.host.cluster.trainings import train_on

GRAPHS = {"classes": Graph.load("blocks"),
          "several labels": Graph(**communities(vertices=80))}
SAMPLINGS = [Sampling(sampler="neighbours", batch=12, fan_outs=(4,)),
             Sampling(sampler="walks", batch=20, coverage=4.0),
             Sampling(sampler="cut", parts=6)]


@settings(max_examples=3, deadline=None)
@given(st.sampled_from(list(GRAPHS)), st.sampled_from(list(MODELS)), st.sampled_from(OPTIMISERS),
       st.sampled_from(SAMPLINGS), st.integers(2, 4), st.data())
def test_bits_are_those_of_one_board(graph, model, optimiser, sampling, boards, data):
    """Also where the last step of an epoch has fewer samples than there are boards."""
    micro_batches = data.draw(st.integers(boards, 5))
    arguments = GRAPHS[graph], Model(
        model, hidden=(6,), dropout=(0.3,), order="combine_first")
    options = {"sampling": sampling, "optimiser": optimiser, "epochs": 2,
               "micro_batches": micro_batches}
    assert train_on(boards, *arguments, **options) == train_on(1, *arguments, **options)


def test_resumed_on_another_number_of_boards(tmp_path):
    arguments = GRAPHS["classes"], Model(hidden=(6,), order="combine_first")
    options = {"sampling": SAMPLINGS[1], "micro_batches": 4}
    whole = train_on(1, *arguments, epochs=6, patience=9, **options)
    for epochs, boards in ((2, 3), (4, 1), (6, 4)):
        found = train_on(boards, *arguments, epochs=epochs, patience=9, run=tmp_path / "run",
                         resume=True, **options)
    for record in found[0]:
        del record["exponents"]
    assert found == whole


@pytest.mark.parametrize(("options", "message"), [
    ({}, "micro_batches is 2, but 3 boards share the samples of a step; raise it to 3 or more"),
    ({"check": True}, "one sample a step can be compared with the reference; leave out --check"),
])
def test_what_boards_cannot_share(options, message):
    with pytest.raises(DescriptionError, match=message):
        Trainer(GRAPHS["classes"], group=ThreadGroup(0, 3, [], None), sampling=SAMPLINGS[0],
                micro_batches=2, **options)
