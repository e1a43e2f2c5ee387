# SPDX-License-Identifier: BSD-2-Clause
"""A graph that boards share, prepared by another process: the bits are those of one board."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast import Device, Graph, Model, Trainer
from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import load_cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.sampling import Sampling
from hypercast.host.description.source import Source
from hypercast.host.graphs.datasets import communities
from hypercast.host.schemes.board_devices import BoardDevices
from hypercast.host.schemes.share import Share
from hypercast.host.training.distributed_training import DistributedTraining
from hypercast.host.training.rounding import RoundingWarning
from hypercast.host.training.trainer_arguments import Sharing
from tests.host.processes.thread_group import ThreadGroup, on_ranks
from tests.host.schemes.trainings import everything

KARATE = Source(source="karate")


@pytest.fixture(scope="module")
def several_labels(tmp_path_factory):
    """The source of a graph whose vertices have several labels."""
    graph = communities(vertices=80)
    path = tmp_path_factory.mktemp("graph") / "graph.npz"
    features = graph["features"]
    features = features.toarray() if hasattr(features, "toarray") else features
    targets, sources = graph["edges"].tocoo().coords
    np.savez(path, edges=np.stack([sources, targets], axis=1), features=features,
             labels=graph["labels"].astype(np.int64), train=graph["splits"] == 1,
             validation=graph["splits"] == 2, test=graph["splits"] == 3)
    return Source(source=str(path))


def led(boards, source, model, device=None, **options):
    """What a training ends in whose leader is given a source, and its predictions and numbers."""
    assignment, cluster = options.pop("assignment", Assignment()), options.pop("cluster", None)

    def run(group):
        if group.rank:
            return Share(group, assignment.complete(Sampling()), cluster,
                         BoardDevices(device)).follow_graph()
        with Trainer(source, model, device, boards=Sharing(
                group=group, assignment=assignment, cluster=cluster), **options) as trainer:
            assert isinstance(trainer._training, DistributedTraining)
            trainer.fit()
            return everything(trainer), trainer.predict(), trainer.numbers(), trainer.facts

    return on_ranks(boards, run)[0]


def alone(source, model, device=None, **options):
    assignment = options.pop("assignment", Assignment())
    with Trainer(source, model, device, boards=Sharing(
            assignment=assignment if assignment.stale else None), **options) as trainer:
        trainer.fit()
        return everything(trainer), trainer.predict(), trainer.numbers(), trainer.facts


def check(found, expected):
    assert found[0] == expected[0]
    assert np.array_equal(found[1].logits, expected[1].logits)
    assert np.array_equal(found[1].classes, expected[1].classes)
    assert found[2:] == expected[2:]


@settings(max_examples=4, deadline=None)
@given(st.sampled_from(["gcn", "sage", "gin"]), st.sampled_from(["sgd", "adam"]),
       st.sampled_from([None, "graph", "layers"]), st.booleans(), st.booleans())
def test_bits_are_those_of_one_board(several_labels, model, optimiser, scheme, labels, timed):
    source = several_labels if labels else KARATE
    model = Model(model, hidden=(6,), order="combine_first")
    options = {"epochs": 3, "optimiser": optimiser}
    found = led(2, source, model, assignment=Assignment(scheme=scheme),
                cluster=load_cluster("vcu128-2") if timed else None, **options)
    check(found, alone(source, model, **options))


def test_orders_are_chosen_and_chips_are_opened():
    model = Model(hidden=(6,))
    device = Device("rtl", preset="test", channel_words=16384, program_rows=4096, tensors=256)
    found, *_, facts = led(2, KARATE, model, device, epochs=1)
    expected, *_, others = alone(KARATE, model, Device("reference", preset="test"), epochs=1)
    assert found[2:] == expected[2:] and facts["orders"] == others["orders"]


def test_resumed_with_the_whole_graph(tmp_path):
    """What a leader without it kept, one board goes on with; and the other way round."""
    model = Model(hidden=(6,))
    kept = {"run": tmp_path / "run", "resume": True}
    led(3, KARATE, model, epochs=2, **kept)
    alone(KARATE, model, epochs=4, **kept)
    found, *_ = led(2, KARATE, model, epochs=6, **kept)
    for record in found[0]:
        del record["exponents"]
    assert found == alone(KARATE, model, epochs=6)[0]


def leader(source, assignment=None, **options):
    sharing = Sharing(group=ThreadGroup(0, 2, [], None), assignment=assignment)
    return Trainer(source, options.pop("model", Model(hidden=(6,))), boards=sharing, **options)


@pytest.mark.parametrize(("source", "options", "kind", "message"), [
    (Source(source="/none/graph.npz"), {}, DescriptionError, "/none/graph.npz"),
    (KARATE, {"patience": 3, "monitor": "validation_micro_f1"}, ValueError, "labels like this"),
    (KARATE, {"micro_batches": 2}, DescriptionError, "give a sampler"),
    (KARATE, {"assignment": Assignment(scheme="samples")}, DescriptionError, "give a sampler"),
])
def test_refusals_are_those_of_one_board(source, options, kind, message):
    with pytest.raises(kind, match=message):
        leader(source, epochs=2, **options)


def test_warnings_are_those_of_one_board(tmp_path):
    path = tmp_path / "graph.npz"
    features = np.full((4, 2), 1e-9)
    features[0] = 1.0
    features[1] = 0.5
    np.savez(path, edges=[[0, 1], [1, 2], [2, 3]], features=features, labels=[0, 1, 0, 1],
             train=[0, 1])
    with pytest.warns(RoundingWarning, match="of the features that are not zero will be"):
        leader(Source(source=str(path)), epochs=1)


def test_nobody_has_the_whole():
    trainer = leader(KARATE, epochs=1)
    for name in ("initial", "edges"):
        with pytest.raises(ValueError, match="none has all of it; give the trainer a Graph"):
            getattr(trainer, name)
    assert trainer.outline.edge_count == Graph.load("karate").edges.nnz
    found = children()
    trainer.close()
    assert found - children()


def test_the_other_process_ends_before_the_boards_train():
    def run(group):
        if group.rank:
            return Share(group, Assignment().complete(Sampling())).follow_graph()
        with Trainer(KARATE, Model(hidden=(6,)), epochs=1, boards=Sharing(group=group)) as trainer:
            before = children()
            assert trainer.target
            return before - children()

    assert len(on_ranks(2, run)[0]) == 1


def children():
    """Processes that this one started, in whatever thread."""
    return {int(child) for task in os.listdir("/proc/self/task")
            for child in open(f"/proc/self/task/{task}/children").read().split()}
