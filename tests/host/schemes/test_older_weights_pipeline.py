# SPDX-License-Identifier: BSD-2-Clause
"""Boards whose steps overlap train the bits of one process with older weights."""

from dataclasses import replace

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
from hypercast.host.training.checkpoint import CheckpointError
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from hypercast.reference.quantization import ConstantError
from hypercast.reference.recipe import OPTIMISERS
from tests.host.processes.thread_group import on_ranks
from tests.host.schemes.trainings import train_on

GRAPHS = {"classes": Graph.load("karate"),
          "several labels": Graph(**communities(vertices=80))}
SAMPLINGS = [None, Sampling(sampler="neighbours", batch=4, fan_outs=(3,)),
             Sampling(sampler="walks", batch=3, coverage=30.0)]
STALE = Assignment(scheme="layers", versions=2)
STASHED = {stages: Assignment(scheme="layers", stages=stages) for stages in (2, 3, 4)}
MODEL = Model(hidden=(5, 5, 5), dropout=(0.3,), order="combine_first")


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(list(GRAPHS)), st.sampled_from(["gcn", "sage", "gin"]),
       st.sampled_from(OPTIMISERS),
       st.sampled_from(SAMPLINGS), st.booleans(), st.integers(2, 4), st.integers(1, 4),
       st.sampled_from(["combine_first", "aggregate_first"]),
       st.sampled_from([STALE, *STASHED.values()]))
def test_bits_are_those_of_one_process(graph, model, optimiser, sampling, residual, boards, count,
                                       order, assignment):
    dropout = 0.0 if order == "aggregate_first" else (0.3,)
    arguments = GRAPHS[graph], Model(model, hidden=(5, 5, 5), dropout=dropout, order=order,
                                     residual=residual and model == "gcn")
    options = {"optimiser": optimiser, "epochs": 3, "assignment": assignment}
    if sampling:
        options |= {"sampling": sampling, "micro_batches": count}
    try:
        alone = train_on(1, *arguments, **options)
    except (ArithmeticError, ConstantError):  # a training that goes wrong does so on boards, too
        assume(False)
    assert train_on(boards, *arguments, **options) == alone


def test_gradients_are_of_older_weights():
    """The first step is exact, the second one has the same weights as that."""
    arguments = GRAPHS["classes"], Model(hidden=(6,), dropout=0.0, order="combine_first")
    exact, late = ([record["training_loss"] for record in train_on(
        1, *arguments, epochs=4, **options)[0]] for options in ({}, {"assignment": STALE}))
    assert late[0] == late[1] == exact[0]
    assert late[2] == exact[1]
    assert late[3] != exact[2]


def test_stashed_weights_are_later_the_earlier_a_stage_is():
    """With two stages, the first layer's first update is seen a step later than the second's."""
    arguments = GRAPHS["classes"], Model(hidden=(6,), dropout=0.0, order="combine_first")
    exact, late = ([record["training_loss"] for record in train_on(
        1, *arguments, epochs=4, **options)[0]] for options in ({}, {"assignment": STASHED[2]}))
    assert late[0] == exact[0]
    assert exact[0] > late[1] > exact[1]


def test_stages_of_a_plan_have_its_runs():
    runs = (range(1, 4), range(4, 5))
    options = {"epochs": 3, "sampling": SAMPLINGS[1], "micro_batches": 2}
    planned, even = (Assignment(scheme="layers", stages=2, runs=one) for one in (runs, ()))
    alone = train_on(1, GRAPHS["classes"], MODEL, assignment=planned, **options)
    assert train_on(2, GRAPHS["classes"], MODEL, assignment=planned, **options) == alone
    assert train_on(1, GRAPHS["classes"], MODEL, assignment=even, **options) != alone


@pytest.mark.parametrize("assignment", [STALE, STASHED[2]], ids=["two versions", "stashed"])
def test_no_more_are_in_flight_than_weights_are_known_for(assignment):
    options = {"epochs": 3, "sampling": SAMPLINGS[1], "micro_batches": 2}
    many = replace(assignment, runs=(range(1, 3), range(3, 5)), in_flight=(9, 9))
    assert train_on(2, GRAPHS["several labels"], MODEL, assignment=many, **options) == train_on(
        1, GRAPHS["several labels"], MODEL, assignment=many, **options)


@pytest.mark.parametrize("assignment", [STALE, STASHED[3]], ids=["two versions", "stashed"])
@pytest.mark.parametrize("sampling", SAMPLINGS[:2], ids=["graph", "samples"])
def test_resumed_on_another_number_of_boards(tmp_path, sampling, assignment):
    options = {"sampling": sampling, "micro_batches": 3} if sampling else {}
    options |= {"patience": 9, "assignment": assignment}
    whole = train_on(1, GRAPHS["classes"], MODEL, epochs=6, **options)
    for epochs, boards in ((2, 3), (4, 1), (6, 2)):
        found = train_on(boards, GRAPHS["classes"], MODEL, epochs=epochs, run=tmp_path / "run",
                         resume=True, **options)
    for record in found[0]:
        del record["exponents"]
    assert found == whole
    with pytest.raises(CheckpointError, match=r"steps\.1 is [12] there, 3 here"):
        Trainer(GRAPHS["classes"], MODEL, epochs=8, run=tmp_path / "run", resume=True,
                boards=Sharing(assignment=STASHED[4]), **{
                    key: value for key, value in options.items() if key != "assignment"})


@pytest.mark.parametrize("jumping", [False, True])
def test_one_stage_has_no_older_weights(jumping):
    model = replace(MODEL, jumping=jumping, dropout=(0.5,))
    options = {"epochs": 3, "sampling": SAMPLINGS[2], "micro_batches": 2}
    exact = train_on(1, GRAPHS["classes"], model, **options)
    for boards in (1, 2):
        assert train_on(boards, GRAPHS["classes"], model, **options,
                        assignment=Assignment(scheme="layers", stages=1)) == exact


def test_steps_overlap():
    """Boards need not wait for each other at the end of a step."""
    graph, cluster = GRAPHS["several labels"], load_cluster("vcu128-2")
    options = {"sampling": SAMPLINGS[1], "micro_batches": 2, "epochs": 3}
    model = Model(hidden=(8,), order="combine_first")

    def seconds(**late):
        def run(group):
            trainer = Trainer(graph, model, boards=Sharing(
                group=group, assignment=Assignment(scheme="layers", **late), cluster=cluster),
                **options)
            if group.rank:
                return trainer.follow()
            with trainer:
                trainer.fit()
                time = trainer.virtual_time()
                return time.seconds / time.steps
        return on_ranks(2, run)[0]

    exact = seconds()
    assert seconds(versions=2) < 0.9 * exact
    assert seconds(stages=2) < 0.9 * exact


@pytest.mark.parametrize(("options", "error", "text"), [
    ({"assignment": Assignment(scheme="graph", versions=2)}, DescriptionError,
     "give scheme layers, or train without"),
    ({"assignment": Assignment(scheme="graph", stages=2)}, DescriptionError,
     "give scheme layers, or train without"),
    ({"assignment": Assignment(scheme="samples", stages=1), "sampling": SAMPLINGS[1]},
     DescriptionError, "give scheme layers, or train without"),
    ({"assignment": Assignment(scheme="layers", stages=2, versions=2)}, DescriptionError,
     "give one of the two"),
    ({"assignment": STALE, "device": Device("rtl")}, DescriptionError,
     "one process computes what boards with older weights would, and is a reference, not rtl"),
    ({"assignment": Assignment(scheme="layers", chunks=2), "device": Device("rtl")},
     DescriptionError, "what boards with rows of chunks would, and is a reference, not rtl"),
    ({"assignment": STASHED[4], "model": Model(hidden=(4,), order="combine_first")},
     DescriptionError, "4 stages share 2 layers, but each needs one"),
])
def test_what_has_no_older_weights(options, error, text):
    with pytest.raises(error, match=text):
        options = {**options}
        sharing = Sharing(assignment=options.pop("assignment"))
        Trainer(GRAPHS["classes"], boards=sharing, **options)


@pytest.mark.parametrize(("model", "message"), [
    (Model(hidden=(4, 4), jumping=True, order="combine_first"),
     "the outputs of layers 1, 2 have one exponent"),
    (Model("gcnii", layers=3, hidden=4, order="combine_first"),
     "the gradients of layer 1's outputs have one exponent")], ids=["jumping", "initial"])
@pytest.mark.parametrize("late", [{"versions": 2}, {"stages": 2}])
def test_what_has_exponents_in_common_trains_on_one_board_only(late, model, message):
    options = {"assignment": Assignment(scheme="layers", **late), "epochs": 3}
    assert len(train_on(1, GRAPHS["classes"], model, **options)[0]) == 3
    with pytest.raises(DescriptionError, match=message):
        train_on(2, GRAPHS["classes"], model, **options)
