# SPDX-License-Identifier: BSD-2-Clause
"""Boards that have layers, through which chunks of a graph go, train the bits of one process."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import load_cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.schemes.share import Share
from hypercast.host.training.checkpoint import CheckpointError
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from hypercast.reference.models import MODELS
from hypercast.reference.quantization import ConstantError
from hypercast.reference.recipe import OPTIMISERS
from tests.host.processes.thread_group import on_ranks
from tests.host.schemes.trainings import train_on

GRAPHS = {"classes": Graph.load("karate"),
          "several labels": Graph(**communities(vertices=80))}
MODEL = Model(hidden=(5, 5, 5), dropout=(0.3,), order="combine_first")


def chunked(chunks, **more):
    return Assignment(scheme="layers", chunks=chunks, **more)


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(list(GRAPHS)), st.sampled_from(list(MODELS)), st.sampled_from(OPTIMISERS),
       st.sampled_from(["combine_first", "aggregate_first"]), st.booleans(), st.integers(1, 4),
       st.integers(1, 7), st.sampled_from([8, 16]), st.booleans(),
       st.sampled_from([(5, 5, 5), (4, 3, 4, 3)]))
def test_bits_are_those_of_one_process(graph, model, optimiser, order, residual, boards, chunks,
                                       width, jumping, hidden):
    dropout = 0.0 if order == "aggregate_first" else (0.5,)
    arguments = GRAPHS[graph], Model(
        model, hidden=hidden if MODELS[model].least else (5, 5, 5), dropout=dropout,
        order=order, jumping=jumping and not MODELS[model].own,
        residual=residual and model == "gcn"), Device(elements=width)
    options = {"optimiser": optimiser, "epochs": 4, "assignment": chunked(chunks)}
    try:
        alone = train_on(1, *arguments, **options)
    except (ArithmeticError, ConstantError):  # a training that goes wrong does so on boards, too
        assume(False)
    assert train_on(boards, *arguments, **options) == alone


def test_one_chunk_is_exact_and_several_are_not():
    arguments = GRAPHS["classes"], MODEL
    exact = train_on(1, *arguments, epochs=4)
    assert train_on(2, *arguments, epochs=4, assignment=chunked(1))[:6] == exact[:6]
    late = train_on(1, *arguments, epochs=4, assignment=chunked(3))
    losses = [[record["training_loss"] for record in history] for history, *_ in (exact, late)]
    assert losses[0][0] == losses[1][0]  # the first step has nothing older
    assert losses[0][1] != losses[1][1]


def test_resumed_on_another_number_of_boards(tmp_path):
    options = {"assignment": chunked(5), "patience": 9}
    whole = train_on(1, GRAPHS["classes"], MODEL, epochs=8, **options)
    for epochs, boards in ((1, 3), (3, 2), (5, 1), (8, 4)):
        found = train_on(boards, GRAPHS["classes"], MODEL, epochs=epochs, run=tmp_path / "run",
                         resume=True, **options)
    for record in found[0]:
        del record["exponents"]
    assert found == whole
    with pytest.raises(CheckpointError, match="chunks is 5 there, 4 here"):
        Trainer(GRAPHS["classes"], MODEL, epochs=9, run=tmp_path / "run", resume=True,
                boards=Sharing(assignment=chunked(4)))


def test_boards_work_on_different_chunks_at_the_same_time():
    graph, cluster = Graph(**communities(vertices=3000)), load_cluster("vcu128-4")
    model = Model(hidden=(64,) * 7, order="combine_first")

    def seconds(chunks):
        def run(group):
            assignment = Assignment(scheme="layers", chunks=chunks)
            if group.rank:
                return Share(group, assignment, cluster).follow_graph()
            with Trainer(graph, model, epochs=2, boards=Sharing(
                    group=group, cluster=cluster, assignment=assignment)) as trainer:
                trainer.step()
                begun = trainer.virtual_time().seconds
                trainer.step()
                return trainer.virtual_time().seconds - begun
        return on_ranks(4, run)[0]

    assert seconds(8) < 0.6 * seconds(0)


@pytest.mark.parametrize(("options", "text"), [
    ({"assignment": chunked(2), "sampling": Sampling(sampler="walks")}, "leave the sampler out"),
    ({"assignment": Assignment(scheme="graph", chunks=2)}, "give scheme layers"),
    ({"assignment": Assignment(chunks=2)}, "give scheme layers"),
    ({"assignment": chunked(2, versions=2)}, "give one of the two"),
    ({"assignment": chunked(2, stages=2)}, "give one of the two"),
])
def test_what_has_no_chunks(options, text):
    with pytest.raises(DescriptionError, match=text):
        options = {**options}
        sharing = Sharing(assignment=options.pop("assignment"))
        Trainer(GRAPHS["classes"], boards=sharing, **options)


@pytest.mark.parametrize("boards", [1, 2])
def test_more_chunks_than_vertices(boards):
    with pytest.raises(DescriptionError, match="35 chunks share 34 vertices, but each needs one"):
        train_on(boards, GRAPHS["classes"], MODEL, epochs=1, assignment=chunked(35))
