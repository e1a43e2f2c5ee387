# SPDX-License-Identifier: BSD-2-Clause
"""Boards that have a run of layers each train the same bits as one."""

import itertools
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import load_cluster
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.passes import no_metrics
from hypercast.host.schemes.actions import (
    Backward,
    Begin,
    End,
    Forward,
    Maximum,
    ReadEntries,
    Receive,
    Send,
    Sum,
    Update,
    WriteEntries,
)
from hypercast.host.schemes.layers_in_pipeline import LayersInPipeline
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from hypercast.reference.models import MODELS
from hypercast.reference.recipe import OPTIMISERS
from hypercast.reference.step_sums import StepSums
from tests.host.models import small_model
from tests.host.processes.thread_group import on_ranks
from tests.host.schemes.trainings import train_on

GRAPHS = {"classes": Graph.load("karate"),
          "several labels": Graph(**communities(vertices=80))}
LAYERS = Assignment(scheme="layers")
SAMPLINGS = [None, Sampling(sampler="neighbours", batch=8, fan_outs=(3,)),
             Sampling(sampler="walks", batch=8, coverage=6.0)]


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(list(GRAPHS)), st.sampled_from(list(MODELS)), st.sampled_from(OPTIMISERS),
       st.sampled_from(SAMPLINGS), st.booleans(), st.integers(2, 4), st.integers(1, 5))
def test_bits_are_those_of_one_board(graph, model, optimiser, sampling, residual, boards, count):
    # Those that take all layers' vertices, and drop inputs of linear layers.
    framed = bool(MODELS[model].own)
    assume(not framed or sampling != SAMPLINGS[1])
    arguments = GRAPHS[graph], Model(model, hidden=(5, 5, 5), dropout=(0.5 if framed else 0.3,),
                                     residual=residual and model == "gcn", order="combine_first")
    options = {"optimiser": optimiser, "epochs": 2, "assignment": LAYERS}
    if sampling:
        options |= {"sampling": sampling, "micro_batches": count}
    try:
        alone = train_on(1, *arguments, **options)
    except ArithmeticError:  # a training that goes wrong does so on one board, too
        assume(False)
    assert train_on(boards, *arguments, **options) == alone


@st.composite
def shares_that_skip(draw):
    """A model with jumping knowledge, branches, or initial residuals; runs of its layers, and
    micro-batches in flight.
    """
    name, dropout = draw(st.sampled_from(list(MODELS))), draw(st.sampled_from([0.0, 0.5]))
    if name == "gcnii":
        model = Model(name, layers=draw(st.integers(2, 6)), hidden=(5,), dropout=(dropout,),
                      alpha=draw(st.sampled_from([0.1, 0.6])), order="combine_first")
    elif MODELS[name].least:
        model = Model(name, hidden=draw(st.sampled_from([(5, 4, 6), (4, 5, 3, 6)])),
                      dropout=(dropout,), order=draw(st.sampled_from(
                          ["combine_first"] if dropout and name == "sign" else
                          ["combine_first", "aggregate_first"])))
    else:
        residual = name != "sage" and draw(st.booleans())
        first = dropout or residual or name == "sage"
        model = Model(name, hidden=draw(st.sampled_from([(5, 5), (4, 4, 6), (5, 5, 5, 5)])),
                      dropout=(dropout,), residual=residual, jumping=True,
                      order=draw(st.sampled_from(
                          ["combine_first"] if first else ["combine_first", "aggregate_first"])))
    last = len(model.network(GRAPHS["classes"]).layers)
    cuts = sorted(draw(st.sets(st.integers(2, last), min_size=1, max_size=4)))
    runs = tuple(range(*pair) for pair in itertools.pairwise([1, *cuts, last + 1]))
    # A board that others wait for has as many in flight as they have.
    flights = sorted(draw(st.lists(st.integers(1, 6), min_size=len(runs), max_size=len(runs))))
    return model, replace(LAYERS, runs=runs, in_flight=tuple(reversed(flights)))


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(list(GRAPHS)), shares_that_skip(), st.sampled_from(OPTIMISERS),
       st.sampled_from([None, SAMPLINGS[2]]), st.integers(1, 5))
def test_boards_are_skipped_by_outputs_that_later_ones_take(graph, share, optimiser, sampling,
                                                            count):
    model, assignment = share
    options = {"optimiser": optimiser, "epochs": 2}
    if sampling:
        options |= {"sampling": sampling, "micro_batches": count}
    try:
        alone = train_on(1, GRAPHS[graph], model, **options)
    except ArithmeticError:
        assume(False)
    assert train_on(len(assignment.runs), GRAPHS[graph], model, assignment=assignment,
                    **options) == alone


def test_every_tensor_that_crosses_takes_virtual_time():
    cluster = load_cluster("vcu128-4")

    def run(group):
        trainer = Trainer(GRAPHS["several labels"], Model(
            hidden=(8, 8, 8), jumping=True, order="combine_first"), epochs=1,
            boards=Sharing(group=group, assignment=LAYERS, cluster=cluster))
        if group.rank:
            return trainer.follow()
        with trainer:
            trainer.fit()
            return trainer.virtual_time().intervals

    bandwidth = cluster.route(*cluster.boards[:2]).bandwidth
    found = {(one.track[len("vcu128-")], one.name[len("rows to vcu128-"):]):
             round((one.end - one.begin) * bandwidth)
             for one in on_ranks(4, run)[0] if one.name.startswith("rows to")}
    rows, mask = 80 * 8 * 2, 80 * 8 // 8  # vertices, features, bytes
    assert found == {
        ("0", "1"): rows + mask, ("1", "2"): rows + mask, ("2", "3"): rows + mask,
        ("0", "3"): rows, ("1", "3"): rows,
        ("3", "2"): 2 * rows, ("3", "1"): rows, ("2", "1"): rows, ("1", "0"): rows}


@pytest.mark.parametrize("jumping", [False, True], ids=["chain", "jumping"])
@pytest.mark.parametrize("sampling", [None, SAMPLINGS[2]], ids=["graph", "samples"])
def test_resumed_on_another_number_of_boards(tmp_path, sampling, jumping):
    arguments = GRAPHS["classes"], Model(hidden=(6, 5), jumping=jumping, order="combine_first")
    options = {"sampling": sampling, "micro_batches": 3} if sampling else {}
    whole = train_on(1, *arguments, epochs=6, patience=9, **options)
    for epochs, boards in ((2, 3), (4, 1), (6, 2)):
        found = train_on(boards, *arguments, epochs=epochs, patience=9, run=tmp_path / "run",
                         resume=True, assignment=LAYERS, **options)
    for record in found[0]:
        del record["exponents"]
    assert found == whole


def test_what_a_board_in_the_middle_does():
    """Two micro-batches in flight; nothing of it takes a device or a group."""
    model = small_model(hidden=(4, 4))
    scheme = LayersInPipeline(model, 1, [range(number, number + 1) for number in range(1, 4)])
    done, passes = [], Mock()
    passes.sums.return_value = StepSums(
        gradients={}, entries={}, metrics=no_metrics(model.sample), saturations=2)
    answers = {Forward: passes, Backward: passes, ReadEntries: {}, Update: 3}
    actions, answer = scheme.step([model.sample] * 3), None
    with pytest.raises(StopIteration) as end:
        while True:
            action = actions.send(answer)
            done.append(action)
            answer = getattr(action, "values", answers.get(type(action)))
    assert end.value.value.saturations == 3 * 2 + 3

    def names(*kinds):
        return [kind.__name__ for kind in kinds]

    forward, backward = ((Receive, way, Send) for way in (Forward, Backward))
    assert names(*map(type, done)) == names(
        Begin, ReadEntries, *forward, *forward, *backward, *forward, *backward, *backward,
        Maximum, Update, End, ReadEntries, Maximum, WriteEntries, Sum, Sum)
    assert [action.source for action in done if isinstance(action, Receive)] == [0, 0, 2, 0, 2, 2]
    assert [action.target for action in done if isinstance(action, Send)] == [2, 2, 0, 2, 0, 0]
    assert [action.unit for action in done if isinstance(action, Backward)] == [0, 1, 2]


def test_predictions_come_from_the_last_board():
    model = Model(hidden=(6, 6), order="combine_first")

    def run(group):
        trainer = Trainer(GRAPHS["classes"], model, epochs=2,
                          boards=Sharing(group=group, assignment=LAYERS))
        if group.rank:
            return trainer.follow()
        with trainer:
            trainer.fit()
            return trainer.predict()

    with Trainer(GRAPHS["classes"], model, epochs=2) as alone:
        alone.fit()
        expected = alone.predict()
    assert np.array_equal(on_ranks(3, run)[0].logits, expected.logits)
