# SPDX-License-Identifier: BSD-2-Clause
"""Boards that are chips share a graph, or layers, and train the bits of one reference."""

import pytest

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from tests.host.schemes.trainings import train_on

CLASSES, LABELS = Graph.load("karate"), Graph(**communities(vertices=60))
ROOM = {"preset": "tiny", "channel_words": 16384, "program_rows": 1024, "weight_rows": 512,
        "tensors": 64}
LAYERS = Assignment(scheme="layers")
WALKS = {"sampling": Sampling(sampler="walks", batch=6, coverage=6.0), "micro_batches": 3}


def records(found):
    """Records of the epochs, but for what only chips have."""
    return [{name: value for name, value in record.items() if not name.endswith("cycles")}
            for record in found[0]], *found[1:]


def compare(devices, graph, model, preset="tiny", **options):
    boards, room = len(devices.split(",")), ROOM | {"preset": preset}
    shared = train_on(boards, graph, model, Device(devices, **room), epochs=2, **options)
    alone = train_on(1, graph, model, Device(**room), epochs=2, **options)
    assert records(shared) == records(alone)


@pytest.mark.parametrize(("devices", "graph", "model", "optimiser"), [
    ("rtl,rtl", CLASSES, Model(hidden=(6, 5), dropout=(0.5,), order="combine_first"), "adam"),
    ("rtl,reference,rtl", CLASSES, Model("sage", hidden=(6,), dropout=(0.0,),
                                         order="aggregate_first"), "sgd"),
    ("reference,rtl", LABELS, Model("gin", hidden=(5,), dropout=(0.0, 0.3)), "adam"),
    ("rtl,rtl", LABELS, Model(hidden=(5, 5, 4), residual=True, jumping=True, dropout=(0.5,),
                              order="combine_first"), "sgd"),
    ("rtl,rtl,rtl,rtl", CLASSES, Model(hidden=(6,), dropout=(0.0, 0.4), order="aggregate_first"),
     "adam"),
])
def test_a_graph(devices, graph, model, optimiser):
    compare(devices, graph, model, optimiser=optimiser)


def test_a_graph_on_chips_of_wider_words():
    """A word holds the ranks of two rows; features are of several panels."""
    compare("rtl,rtl,rtl", CLASSES, Model(hidden=(9, 6), dropout=(0.4,), order="combine_first"),
            preset="test", optimiser="adam")


@pytest.mark.parametrize(("devices", "graph", "model", "options"), [
    ("rtl,rtl", CLASSES, Model(hidden=(6, 5), dropout=(0.5,), order="combine_first"), {}),
    ("reference,rtl", LABELS, Model("sage", hidden=(5, 4), dropout=(0.3,), order="combine_first"),
     WALKS),
    ("rtl,rtl,rtl", CLASSES, Model("gin", hidden=(5, 4)), {
        "sampling": Sampling(sampler="neighbours", batch=8, fan_outs=(3, 2)), "micro_batches": 4,
        "optimiser": "adam"}),
    ("rtl,reference,rtl", CLASSES, Model(hidden=(6, 6), residual=True), WALKS),
    ("rtl,rtl,reference", LABELS, Model(hidden=(5, 5, 4), residual=True, jumping=True,
                                        dropout=(0.5,)), {"optimiser": "adam"}),
    ("rtl,reference,rtl,rtl", CLASSES, Model("sage", hidden=(5, 4, 5), jumping=True), WALKS),
    ("rtl,rtl,reference,rtl", CLASSES, Model("gcnii", layers=6, hidden=4, order="combine_first"),
     {"optimiser": "adam"}),
])
def test_layers(devices, graph, model, options):
    compare(devices, graph, model, assignment=LAYERS, **options)
