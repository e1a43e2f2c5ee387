# SPDX-License-Identifier: BSD-2-Clause
"""Boards that share the samples of a step train the same bits as one."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.description import load_cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from hypercast.reference.models import MODELS
from hypercast.reference.recipe import OPTIMISERS
from tests.host.processes.thread_group import ThreadGroup
from tests.host.schemes.trainings import train_on

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
    framed = bool(MODELS[model].own)
    assume(not framed or sampling != SAMPLINGS[0])
    arguments = GRAPHS[graph], Model(
        model, hidden=(6,), layers=MODELS[model].least or None,
        dropout=(0.5 if framed else 0.3,), order="combine_first")
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


KARATE = (Graph.load("karate"), Model(hidden=(4,), dropout=(0.5,), order="combine_first"))
ON_KARATE = {"sampling": Sampling(sampler="neighbours", batch=1, fan_outs=(4,)),
             "micro_batches": 3, "epochs": 2}


def of_bits(found):
    """What a training ends with, but for what the leader's chip counted."""
    history, *rest = found
    return [{name: value for name, value in record.items() if "_cycles" not in name}
            for record in history], *rest


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("devices", ["rtl", "reference,rtl"])
def test_chips_train_the_bits_of_a_reference(devices, optimiser):
    options = {"optimiser": optimiser, **ON_KARATE}
    expected = train_on(1, *KARATE, **options)
    found = train_on(2, *KARATE, Device(devices, preset="tiny"), **options)
    assert of_bits(found) == of_bits(expected)


@pytest.mark.parametrize(("boards", "devices", "graph", "model", "order", "optimiser"), [
    (1, "rtl", "classes", "gcn", "aggregate_first", "sgd"),
    (2, "rtl", "several labels", "sage", "combine_first", "adam"),
    (3, "rtl,reference,rtl", "classes", "gin", "combine_first", "adam"),
    (4, "rtl", "several labels", "gcn", "combine_first", "sgd")])
def test_models_and_losses_on_chips(boards, devices, graph, model, order, optimiser):
    dropout = 0.3 if order == "combine_first" else 0.0
    arguments = GRAPHS[graph], Model(model, hidden=(6,), dropout=(dropout,), order=order)
    options = {"sampling": SAMPLINGS[1], "optimiser": optimiser, "epochs": 2, "micro_batches": 4}
    chip = Device(devices, preset="test", channel_words=16384, program_rows=1024,
                  weight_rows=512, tensors=64)
    assert of_bits(train_on(boards, *arguments, chip, **options)) == of_bits(
        train_on(1, *arguments, **options))


def test_chips_go_on_with_what_others_trained(tmp_path):
    whole = of_bits(train_on(1, *KARATE, **ON_KARATE | {"epochs": 5}))
    for epochs, boards, devices in ((2, 2, "rtl"), (3, 3, "reference"), (4, 1, "rtl"),
                                    (5, 2, "reference,rtl")):
        found = train_on(boards, *KARATE, Device(devices, preset="tiny"), resume=True,
                         run=tmp_path / "run", **ON_KARATE | {"epochs": epochs})
    history, *rest = of_bits(found)
    for record in history:
        del record["exponents"]
    assert (history, *rest) == whole


def test_chips_of_a_cluster_have_its_clock(tmp_path):
    """Virtual time is positive, and the bits are the same (``train_on`` looks at the time)."""
    path = tmp_path / "cluster.toml"
    path.write_text("[boards.small]\nboard = 'vcu128'\npreset = 'tiny'\ncount = 2\n"
                    "[links.ethernet]\ngigabits = 100\n")
    expected = train_on(1, *KARATE, **ON_KARATE)
    devices = Device("rtl,reference", preset="tiny")
    found = train_on(2, *KARATE, devices, cluster=load_cluster(str(path)), **ON_KARATE)
    assert of_bits(found) == of_bits(expected)
    with pytest.raises(DescriptionError, match="board 0 is a chip whose dimensions is 1, but on "
                                               "the cluster it is vcu128-0, of 4; give --preset"):
        train_on(2, *KARATE, devices, cluster=load_cluster("vcu128-2"), **ON_KARATE)


@pytest.mark.parametrize(("options", "message"), [
    ({}, "micro_batches is 2, but 3 boards share the samples of a step; raise it to 3 or more"),
    ({"check": True}, "one sample a step can be compared with the reference; leave out check"),
])
def test_what_boards_cannot_share(options, message):
    with pytest.raises(DescriptionError, match=message):
        Trainer(GRAPHS["classes"], boards=Sharing(group=ThreadGroup(0, 3, [], None)),
                sampling=SAMPLINGS[0], micro_batches=2, **options)
