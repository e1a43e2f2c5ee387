# SPDX-License-Identifier: BSD-2-Clause
"""Boards that share a graph train the same bits as one."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from hypercast.reference.models import MODELS
from hypercast.reference.recipe import OPTIMISERS
from tests.host.processes.thread_group import ThreadGroup, on_ranks
from tests.host.schemes.trainings import train_on

GRAPHS = {"classes": Graph.load("karate"),
          "several labels": Graph(**communities(vertices=80))}


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(list(GRAPHS)), st.sampled_from(list(MODELS)), st.sampled_from(OPTIMISERS),
       st.sampled_from(["combine_first", "aggregate_first"]), st.booleans(), st.integers(2, 5),
       st.sampled_from([8, 16]))
def test_bits_are_those_of_one_board(graph, model, optimiser, order, additions, boards, width):
    dropout = 0.0 if order == "aggregate_first" else (0.5,)
    arguments = GRAPHS[graph], Model(model, hidden=(6, 6, 6), dropout=dropout, order=order,
                                     residual=additions and model == "gcn",
                                     jumping=additions and not MODELS[model].own), \
        Device(elements=width)
    options = {"optimiser": optimiser, "epochs": 3}
    try:
        alone = train_on(1, *arguments, **options)
    except ArithmeticError:  # a training that goes wrong does so on boards, too
        assume(False)
    assert train_on(boards, *arguments, **options) == alone


def test_resumed_on_another_number_of_boards(tmp_path):
    arguments = GRAPHS["classes"], Model(hidden=(6,))
    whole = train_on(1, *arguments, epochs=6, patience=9)
    for epochs, boards in ((2, 3), (4, 1), (6, 4)):
        found = train_on(boards, *arguments, epochs=epochs, patience=9, run=tmp_path / "run",
                         resume=True)
    for record in found[0]:
        del record["exponents"]
    assert found == whole


def test_predictions_are_in_the_order_of_the_graph():
    model = Model(hidden=(6,), order="combine_first")

    def run(group):
        trainer = Trainer(GRAPHS["classes"], model, epochs=2, boards=Sharing(group=group))
        if group.rank:
            return trainer.follow()
        with trainer:
            trainer.fit()
            return trainer.predict()

    with Trainer(GRAPHS["classes"], model, epochs=2) as alone:
        alone.fit()
        expected = alone.predict()
    found = on_ranks(3, run)[0]
    assert np.array_equal(found.logits, expected.logits)


@pytest.mark.parametrize(("options", "message"), [
    ({"device": Device("reference,rtl")}, "name has 2 devices, reference,rtl, but 3 boards train"),
    ({"check": True}, "check compares one board with the reference, but 3 train together"),
])
def test_what_boards_cannot_share(options, message):
    with pytest.raises(DescriptionError, match=message):
        Trainer(GRAPHS["classes"], boards=Sharing(group=ThreadGroup(0, 3, [], None)), **options)
