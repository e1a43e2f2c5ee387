"""Boards that have a run of layers each train the same bits as one."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.group import ClusterError
from hypercast.host.cluster.layers_in_pipeline import runs_of_layers
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.description.model import Model
from hypercast.host.training.description.sampling import Sampling
from hypercast.host.training.prepare import prepare
from hypercast.host.training.trainer import Trainer
from hypercast.reference.models import MODELS
from hypercast.reference.recipe import OPTIMISERS, Recipe
from tests.host.cluster.thread_group import on_ranks
from tests.host.cluster.trainings import train_on

GRAPHS = {"classes": Graph.load("karate"),
          "several labels": Graph(**communities(vertices=80))}
LAYERS = Assignment(scheme="layers")
SAMPLINGS = [None, Sampling(sampler="neighbours", batch=8, fan_outs=(3,)),
             Sampling(sampler="walks", batch=8, coverage=6.0)]


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(list(GRAPHS)), st.sampled_from(list(MODELS)), st.sampled_from(OPTIMISERS),
       st.sampled_from(SAMPLINGS), st.booleans(), st.integers(2, 4), st.integers(1, 5))
def test_bits_are_those_of_one_board(graph, model, optimiser, sampling, residual, boards, count):
    arguments = GRAPHS[graph], Model(model, hidden=(5, 5, 5), dropout=(0.3,),
                                     residual=residual and model == "gcn", order="combine_first")
    options = {"optimiser": optimiser, "epochs": 2, "assignment": LAYERS}
    if sampling:
        options |= {"sampling": sampling, "micro_batches": count}
    try:
        alone = train_on(1, *arguments, **options)
    except ArithmeticError:  # a training that goes wrong does so on one board, too
        assume(False)
    assert train_on(boards, *arguments, **options) == alone


@pytest.mark.parametrize("sampling", SAMPLINGS[:2], ids=["graph", "samples"])
def test_resumed_on_another_number_of_boards(tmp_path, sampling):
    arguments = GRAPHS["classes"], Model(hidden=(6, 5), order="combine_first")
    options = {"sampling": sampling, "micro_batches": 3} if sampling else {}
    whole = train_on(1, *arguments, epochs=6, patience=9, **options)
    for epochs, boards in ((2, 3), (4, 1), (6, 2)):
        found = train_on(boards, *arguments, epochs=epochs, patience=9, run=tmp_path / "run",
                         resume=True, assignment=LAYERS, **options)
    for record in found[0]:
        del record["exponents"]
    assert found == whole


def test_predictions_come_from_the_last_board():
    model = Model(hidden=(6, 6), order="combine_first")

    def run(group):
        trainer = Trainer(GRAPHS["classes"], model, epochs=2, group=group,
                          assignment=LAYERS)
        if group.rank:
            return trainer.follow()
        with trainer:
            trainer.fit()
            return trainer.predict()

    with Trainer(GRAPHS["classes"], model, epochs=2) as alone:
        alone.fit()
        expected = alone.predict()
    assert np.array_equal(on_ranks(3, run)[0].logits, expected.logits)


@pytest.mark.parametrize(("boards", "model", "message"), [
    (4, Model(hidden=(4, 4)), "4 boards share 3 layers, but each needs one; take 3 boards or"),
    (2, Model(hidden=(4, 4), jumping=True), "with jumping knowledge the last one has those of all"),
])
def test_what_is_no_pipeline(boards, model, message):
    graph = GRAPHS["classes"]
    network = model.network(graph)
    with pytest.raises(ClusterError, match=message):
        runs_of_layers(network, prepare(graph, network, Recipe()).sample, boards)
