# SPDX-License-Identifier: BSD-2-Clause
"""Core: it can be built with every value of every field that shapes it, and every pair of them; its
parts are connected as a training needs them.
"""

import itertools

import pytest

from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import open_device
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY
from hypercast.rtl.chip import CORE_MODULE
from hypercast.rtl.config import PRESETS, Config
from hypercast.rtl.core import Core, core_signature
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.isa import Split
from tests.system.chips import NARROW, VARIANTS, ModelTraining, random_graph

FIELDS = {"dimensions": range(7), "lanes": (2, 4, 8, 16), "planes": (1, 2, 4),
          "eject": (1, 2, 4), "element_width": (8, 16)}
#: Everything else as small as it may be: what is wrong at the edges shows there.
SMALLEST = {"buffer_depth": 2, "accumulator_rows": 16, "weight_rows": 16, "channel_words": 64,
            "read_buffer": 4, "edge_buffer": 2, "program_rows": 16, "tensors": 8}
#: Values of ``FIELDS``, in order: every value of each occurs. Many lanes, and many ports of a
#: router, take long to convert: they are not together.
COVERING = [
    (0, 16, 1, 1, 16), (0, 2, 4, 4, 16), (1, 8, 2, 2, 8), (2, 4, 2, 1, 16), (3, 4, 1, 1, 8),
    (4, 2, 2, 2, 8),
    (5, 2, 1, 1, 8), (6, 2, 1, 1, 8),
]
#: With these, every value of each field meets every value of the others.
REST = [
    (0, 16, 4, 4, 16),
    (0, 4, 4, 2, 8), (1, 2, 4, 4, 16), (0, 8, 1, 1, 16), (2, 8, 4, 4, 8), (1, 16, 1, 1, 8),
    (3, 2, 2, 2, 16), (4, 4, 4, 4, 16), (5, 16, 2, 2, 16), (6, 4, 2, 2, 16), (4, 8, 1, 1, 8),
    (0, 2, 2, 2, 8), (3, 8, 4, 4, 8), (5, 4, 4, 4, 8), (6, 8, 4, 4, 8), (2, 2, 1, 1, 8),
    (1, 4, 4, 1, 8), (2, 16, 2, 2, 8), (5, 8, 1, 1, 8), (3, 16, 1, 1, 8), (4, 16, 1, 1, 8),
    (6, 16, 1, 1, 8),
]


def pairs(values):
    """Pairs of fields with the values they have."""
    return set(itertools.combinations(zip(FIELDS, values, strict=True), 2))


def test_every_value_is_covered():
    for index, values in enumerate(FIELDS.values()):
        assert {combination[index] for combination in COVERING} == set(values)


def test_every_pair_is_covered():
    possible = set().union(*(
        pairs(values) for values in itertools.product(*FIELDS.values())
        if values[3] <= values[2]))
    assert set().union(*map(pairs, COVERING + REST)) == possible


def convert(values, **others):
    config = Config(**dict(zip(FIELDS, values, strict=True)), **SMALLEST, **others)
    text = to_rtlil(Core(config), CORE_MODULE)
    assert f"module \\{CORE_MODULE}\n" in text


@pytest.mark.parametrize("values", [COVERING[1], COVERING[4], *(
    pytest.param(values, marks=pytest.mark.slow) for values in (
        COVERING[0], *COVERING[2:4], *COVERING[5:]))])
def test_converts(values):
    convert(values)


@pytest.mark.slow
@pytest.mark.parametrize("values", REST)
def test_converts_too(values):
    convert(values)


@pytest.mark.parametrize("external", [False, True])
def test_memory_is_inside_unless_asked_for(external):
    members = core_signature(PRESETS["tiny"], external=external)
    assert ("memory" in members) == external


def test_converts_with_slow_memory():
    convert((1, 2, 1, 1, 8), memory_latency=1024, memory_stalls=True)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_a_training_takes_all_wires(optimiser):
    ModelTraining(graph=random_graph(25, 60), config=NARROW, variant=VARIANTS["jumping sage"],
                  recipe={"optimiser": optimiser}).check()


def test_a_training_is_counted():
    """What happens in a step is counted by every counter of it, and nothing is at fault."""
    model = ModelTraining(graph=random_graph(40, 90, features=12), config=NARROW,
                          variant=("gcn", {}), hidden=(8,)).model()
    device = open_device("rtl", model, NARROW)
    try:
        device.train_step()
        counters = {name: sum(values) for name, values in device.counters.items()}
    finally:
        device.close()
    work = predict(Workload.of_model(model, NARROW)).work
    for name in ("array_words", "edges", "features_written"):
        assert counters[name] == work[name], name
    for name in ("sent", "features_read", "gradients_read", "gradients_written", "vector_words",
                 "array_starved", "array_blocked", "vector_starved", "loss_train", "link_0"):
        assert counters[name] > 0, name
    assert counters["correct_train"] <= 20 and counters["wrong_train"] == 0
    assert {counters[name] for name in counters if name.endswith("_faults")} == {0}


def test_wrong_labels_are_counted_by_split():
    """With several labels, what is wrong counts for itself; both are as the reference has them."""
    model = ModelTraining(graph=Graph(**communities(vertices=60, classes=5)), config=NARROW,
                          variant=("gcn", {}), hidden=(8,),
                          recipe={"loss": BINARY_CROSS_ENTROPY}).model()
    device = open_device("rtl", model, NARROW)
    try:
        metrics = device.train_step()
        counters = {name: sum(values) for name, values in device.counters.items()}
    finally:
        device.close()
    for split in (Split.TRAIN, Split.VALIDATION, Split.TEST):
        name = split.name.lower()
        assert counters[f"correct_{name}"] == metrics.correct[split]
        assert counters[f"wrong_{name}"] == metrics.wrong[split]
    assert counters["wrong_train"] > 0
