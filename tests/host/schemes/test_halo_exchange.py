# SPDX-License-Identifier: BSD-2-Clause
"""Boards whose rows reach each other a step late train the bits of one process that has all."""

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


#: What chips of the preset tiny need more of.
_ROOM = {"channel_words": 16384, "weight_rows": 512, "program_rows": 1024}


def stale(parts, smoothing=0.5):
    return Assignment(scheme="graph", smoothing=smoothing, parts=(1.0,) * parts)


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(list(GRAPHS)), st.sampled_from(list(MODELS)), st.sampled_from(OPTIMISERS),
       st.sampled_from(["combine_first", "aggregate_first"]), st.booleans(), st.integers(2, 4),
       st.sampled_from([0.0, 0.5, 0.95]), st.sampled_from([8, 16]),
       st.sampled_from([(6, 6, 6), (4, 3, 4, 3)]))
def test_bits_are_those_of_one_process(graph, model, optimiser, order, additions, boards,
                                       smoothing, width, hidden):
    dropout = 0.0 if order == "aggregate_first" else (0.5,)
    arguments = GRAPHS[graph], Model(
        model, hidden=hidden if MODELS[model].least else (6, 6, 6), dropout=dropout,
        order=order, residual=additions and model == "gcn",
        jumping=additions and not MODELS[model].own), Device(elements=width)
    options = {"optimiser": optimiser, "epochs": 4, "assignment": stale(boards, smoothing)}
    try:
        alone = train_on(1, *arguments, **options)
    except (ArithmeticError, ConstantError):  # a training that goes wrong does so on boards, too
        assume(False)
    assert train_on(boards, *arguments, **options) == alone


def test_one_part_is_exact_and_several_are_not():
    arguments = GRAPHS["classes"], Model(hidden=(6,), order="combine_first")
    exact = train_on(1, *arguments, epochs=4)
    assert train_on(1, *arguments, epochs=4, assignment=stale(1))[:6] == exact[:6]
    late = train_on(1, *arguments, epochs=4, assignment=stale(3))
    losses = [[record["training_loss"] for record in history] for history, *_ in (exact, late)]
    assert losses[0][0] == losses[1][0]  # the first step has nothing older
    assert losses[0][1] != losses[1][1]


def test_chips_and_references_share(tmp_path):
    """Both end in the bits of one process, and go on from each other's checkpoints."""
    arguments = GRAPHS["classes"], Model(hidden=(6, 6), dropout=(0.5,))
    options = {"assignment": stale(2), "run": tmp_path / "run", "resume": True}
    whole = train_on(1, *arguments, Device(preset="tiny", **_ROOM), epochs=4,
                     assignment=stale(2))
    for epochs, names in ((1, "rtl,reference"), (2, "rtl"), (3, "reference"), (4, "reference,rtl")):
        found = train_on(2, *arguments, Device(names, preset="tiny", **_ROOM), epochs=epochs,
                         **options)
    assert found[1:] == whole[1:]
    assert [record["training_loss"] for record in found[0]] == [
        record["training_loss"] for record in whole[0]]


def test_resumed_in_one_process_or_on_boards(tmp_path):
    arguments = GRAPHS["classes"], Model(hidden=(6,))
    options = {"assignment": stale(3), "patience": 9}
    whole = train_on(1, *arguments, epochs=6, **options)
    for epochs, boards in ((2, 3), (4, 1), (6, 3)):
        found = train_on(boards, *arguments, epochs=epochs, run=tmp_path / "run", resume=True,
                         **options)
    for record in found[0]:
        del record["exponents"]
    assert found == whole
    kept = Trainer(*arguments, epochs=8, run=tmp_path / "run", resume=True, patience=9)
    with kept:  # what is older stays so
        kept.fit()
    assert train_on(1, *arguments, epochs=8, **options)[5] == {
        f"{name}.{kind}": values.tolist() for name, arrays in kept.target.state().parameters.items()
        for kind, values in arrays.items()}
    with pytest.raises(CheckpointError, match=r"smoothing is 32768 there, 16384 here"):
        Trainer(*arguments, epochs=8, run=tmp_path / "run", resume=True,
                boards=Sharing(assignment=stale(3, 0.25)))


def test_rows_cross_while_boards_compute():
    """A board's clock does not stop for what it needs in the next step only."""
    graph, cluster = Graph(**communities(vertices=400)), load_cluster("vcu128-2-slow")

    def seconds(smoothing):
        def run(group):
            assignment = Assignment(scheme="graph", smoothing=smoothing)
            if group.rank:
                return Share(group, assignment, cluster).follow_graph()
            with Trainer(graph, Model(hidden=(64, 64)), epochs=4, boards=Sharing(
                    group=group, cluster=cluster, assignment=assignment)) as trainer:
                trainer.fit()
                return trainer.virtual_time().seconds
        return on_ranks(2, run)[0]

    assert seconds(0.0) < 0.8 * seconds(None)


@pytest.mark.parametrize(("options", "text"), [
    ({"assignment": stale(2), "sampling": Sampling(sampler="walks")}, "steps work on samples"),
    ({"assignment": Assignment(scheme="layers", smoothing=0.0)}, "stale halos are those of"),
    ({"assignment": stale(2), "device": Device("rtl")},
     "one process computes what boards with stale halos would, and is a reference, not rtl; leave"),
    ({"assignment": stale(2, 1.0)}, "smoothing must be at least 0 and at most 0.99998.*, not 1.0"),
])
def test_what_cannot_be_stale(options, text):
    with pytest.raises(DescriptionError, match=text):
        options = {**options}
        sharing = Sharing(assignment=options.pop("assignment"))
        Trainer(GRAPHS["classes"], boards=sharing, **options)
