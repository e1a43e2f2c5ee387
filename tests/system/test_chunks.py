# SPDX-License-Identifier: BSD-2-Clause
"""Chips through whose layers chunks of a graph go train the bits of one process."""

from dataclasses import replace

import pytest

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from tests.host.schemes.trainings import train_on
from tests.system.test_older_weights import GRAPHS, check, trained


def chunked(chunks):
    return Assignment(scheme="layers", chunks=chunks)


@pytest.mark.grid
@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize("graph", list(GRAPHS))
@pytest.mark.parametrize("chunks", [1, 2, 5])
def test_chunks_on_chips(graph, chunks, optimiser):
    check("rtl,rtl", GRAPHS[graph], Model(hidden=(5, 5), dropout=0.3, order="combine_first"),
          optimiser=optimiser, assignment=chunked(chunks))


@pytest.mark.grid
@pytest.mark.parametrize("names", ["reference,rtl", "rtl,reference", "rtl,reference,rtl"])
@pytest.mark.parametrize(("model", "options"), [
    ("gcn", {"order": "aggregate_first"}), ("sage", {}), ("gin", {}), ("gcnii", {"alpha": 0.2}),
    ("gcn", {"jumping": True}), ("gcn", {"residual": True})],
    ids=["sums first", "sage", "gin", "gcnii", "jumping", "residual"])
def test_chips_and_references(names, model, options):
    check(names, GRAPHS["classes"], Model(model, hidden=(5, 5), dropout=0.0, **options),
          optimiser="adam", assignment=chunked(3))


@pytest.mark.parametrize(("names", "name"), [
    ("rtl,rtl", "mixhop"), ("reference,rtl,reference", "mixhop"), ("rtl,rtl", "sign")])
def test_layers_that_sum_the_same_rows(names, name):
    """Branches that read the same features take the same older rows of them."""
    check(names, GRAPHS["classes"], Model(name, hidden=(4, 3, 4, 3), dropout=0.5),
          optimiser="adam", assignment=chunked(4))


def test_momenta_whose_exponents_rise():
    """They rise when a step begins; bringing a chunk changes nothing of that."""
    graph = replace(GRAPHS["classes"], features=GRAPHS["classes"].features * 1e-3)
    check("rtl,rtl", graph, Model(hidden=(5, 5), dropout=0.0, order="combine_first"),
          assignment=chunked(3), epochs=12, learning_rate=2.0)


def test_resumed_on_other_devices(tmp_path):
    graph, model = GRAPHS["classes"], Model(hidden=(5,), dropout=0.3, order="combine_first")
    options = {"assignment": chunked(4)}
    whole = trained("reference", graph, model, epochs=6, **options)
    for epochs, names in ((1, "rtl,rtl"), (2, "rtl,reference"), (4, "reference"),
                          (5, "reference,rtl"), (6, "rtl,rtl")):
        found = trained(names, graph, model, epochs=epochs, run=tmp_path / "run", resume=True,
                        **options)
    assert found == whole


def test_a_graph_that_does_not_fit():
    device = Device("rtl", preset="tiny", program_rows=512, weight_rows=256, channel_words=64)
    with pytest.raises(CapacityError, match="channel_words"):
        train_on(2, GRAPHS["classes"], Model(hidden=(5,), dropout=0.0), device, epochs=1,
                 assignment=chunked(2))


def test_one_chip_does_not_stand_for_boards():
    with pytest.raises(ValueError, match="one process computes what boards with rows of chunks"):
        Trainer(GRAPHS["classes"], Model(hidden=(5,)), Device("rtl"),
                boards=Sharing(assignment=chunked(2)))
