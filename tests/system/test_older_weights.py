# SPDX-License-Identifier: BSD-2-Clause
"""Chips whose hosts keep older weights train the bits of one process, alone or with references."""

import pytest

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from tests.host.schemes.trainings import train_on

GRAPHS = {"classes": Graph.load("karate"),
          "several labels": Graph(**communities(vertices=80))}
STALE = Assignment(scheme="layers", versions=2)
STASHED = {stages: Assignment(scheme="layers", stages=stages) for stages in (2, 3)}
NEIGHBOURS = Sampling(sampler="neighbours", batch=4, fan_outs=(3,))
WALKS = Sampling(sampler="walks", batch=3, coverage=30.0)


def device(names):
    return Device(names, preset="tiny", program_rows=1024, weight_rows=512, channel_words=16384)


def trained(names, graph, model, **options):
    """What a training on boards of these names ends in, but for cycles and exponents on the way."""
    history, *state = train_on(len(names.split(",")), graph, model, device(names), **options)
    left_out = {"train_cycles", "evaluate_cycles", "exponents"}
    return [{name: value for name, value in record.items() if name not in left_out}
            for record in history], *state


def check(names, graph, model, **options):
    """Train on boards of these names; the bits are those of one reference."""
    options = {"epochs": 3, **options}
    assert trained(names, graph, model, **options) == trained("reference", graph, model, **options)


@pytest.mark.parametrize("assignment", [STALE, STASHED[2], STASHED[3]],
                         ids=["two versions", "two stages", "three stages"])
@pytest.mark.parametrize(("graph", "sampling", "optimiser", "count"), [
    ("classes", NEIGHBOURS, "sgd", 2), ("several labels", WALKS, "adam", 3),
    ("classes", WALKS, "adam", 1)])
def test_steps_overlap_on_chips(graph, sampling, optimiser, count, assignment):
    check("rtl,rtl", GRAPHS[graph], Model(hidden=(5, 5), dropout=0.3, order="combine_first"),
          sampling=sampling, optimiser=optimiser, micro_batches=count, assignment=assignment)


@pytest.mark.parametrize("names", ["reference,rtl", "rtl,reference", "rtl,reference,rtl"])
@pytest.mark.parametrize("model", ["gcn", "sage", "gin"])
def test_chips_and_references(names, model):
    check(names, GRAPHS["classes"], Model(model, hidden=(5, 5), dropout=0.0),
          sampling=NEIGHBOURS, micro_batches=3, assignment=STALE, optimiser="adam")


@pytest.mark.parametrize("assignment", [STALE, STASHED[2]], ids=["two versions", "stashed"])
def test_a_whole_graph(assignment):
    check("rtl,rtl", GRAPHS["classes"], Model(hidden=(5,), dropout=0.3, order="combine_first"),
          assignment=assignment, epochs=4)


@pytest.mark.parametrize("assignment", [STALE, STASHED[2]], ids=["two versions", "stashed"])
def test_resumed_on_other_devices(tmp_path, assignment):
    graph, model = GRAPHS["classes"], Model(hidden=(5,), dropout=0.3, order="combine_first")
    options = {"sampling": NEIGHBOURS, "micro_batches": 3, "assignment": assignment}
    whole = trained("reference", graph, model, epochs=6, **options)
    for epochs, names in ((2, "rtl,rtl"), (4, "reference"), (5, "rtl,reference"), (6, "rtl,rtl")):
        found = trained(names, graph, model, epochs=epochs, run=tmp_path / "run", resume=True,
                        **options)
    assert found == whole
