# SPDX-License-Identifier: BSD-2-Clause
"""Graphs of many strips: named rows, and features whose zeros are not stored, bit for bit."""

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.memory_map import SlowdownWarning
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import open_device
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.rtl.isa import Opcode, decode
from tests.system.chips import SLOW_MEMORY, VARIANTS, GraphTraining, ModelTraining

CONFIG = SLOW_MEMORY.replace(accumulator_rows=16, row_counts=128, program_rows=8192,
                             channel_words=1 << 16)


def graph(vertices, degree, *, communities=1, features=9, density=1.0, seed=0):
    """A random graph whose edges mostly lead to vertices of the same community.

    A share ``density`` of the features is not zero.
    """
    rng = np.random.default_rng(seed)
    size = -(-vertices // communities)
    sources = rng.integers(vertices, size=degree * vertices)
    near = np.minimum(sources // size * size + rng.integers(size, size=len(sources)), vertices - 1)
    targets = np.where(rng.random(len(sources)) < 0.9, near, rng.integers(vertices,
                                                                         size=len(sources)))
    shape = vertices, features
    values = np.where(rng.random(shape) < density, rng.normal(size=shape), 0)
    return Graph.from_edges(np.stack([sources, targets], axis=1), values,
                            np.arange(vertices) % 5, train=range(0, vertices, 2))


def lists(training):
    """How many AGGREGATEs of a step's program walk all rows, and how many walk names."""
    fields = list(map(decode, training.job.instructions("train")))
    sums = [one for one in fields if one["opcode"] == Opcode.AGGREGATE and not one["prefetch"]]
    return [sum(one["indexed"] == indexed for one in sums) for indexed in (0, 1)]


@pytest.mark.grid
@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
@pytest.mark.parametrize("vertices, degree, communities", [
    (200, 2, 1),
    (261, 2, 9),  # strips whose rows lie together; the last strip is shorter
])
def test_sparse_graphs(vertices, degree, communities, orders):
    training = GraphTraining(graph=graph(vertices, degree, communities=communities),
                             config=CONFIG, orders=orders, hidden=(10,),
                             dropout=0.4 if orders == COMBINE_FIRST else 0.0)
    assert lists(training)[1]
    training.check()


@pytest.mark.parametrize("name", ["sage", "gin"])
def test_rows_that_are_added(name):
    """A strip's own rows are named, too."""
    training = ModelTraining(graph=graph(220, 1), config=CONFIG, variant=VARIANTS[name],
                             hidden=(10,))
    assert lists(training)[1]
    training.check()


def test_dense_graphs_are_walked():
    """A list that names nearly all rows would be slower than one without names."""
    assert lists(GraphTraining(graph=graph(100, 40), config=CONFIG, hidden=(10,)))[1] == 0


def test_a_small_row_table_leaves_lists_without_names():
    """There is no entry for some of the strips, so none has one."""
    model = GraphTraining(graph=graph(545, 2), config=CONFIG, hidden=(10,)).model()
    small, large = (CONFIG.replace(row_counts=count, channel_words=1 << 15) for count in (16, 32))
    with pytest.warns(SlowdownWarning, match=r"row_counts is 16, .*raise row_counts to 32 "):
        job = compile_job(model, small)
    [found] = predict(Workload.of_model(model, small)).slowdowns
    assert found.needed == 1 + len(job.plan.vertices[0].strips)
    assert not predict(Workload.of_model(model, large)).slowdowns
    sums = [one for one in map(decode, job.instructions("train"))
            if one["opcode"] == Opcode.AGGREGATE and not one["prefetch"]]
    assert job.plan.row_entries == 1 and {one["indexed"] for one in sums} == {0}


@pytest.mark.parametrize("communities", [1, 9])
def test_work(communities):
    """Each row that is sent is read once; nothing else of what is aggregated is read."""
    model = GraphTraining(graph=graph(261, 2, communities=communities), config=CONFIG,
                          hidden=(10,)).model()
    device = open_device("rtl", model, CONFIG)
    try:
        device.train_step()
        counters = {name: sum(values) for name, values in device.counters.items()}
    finally:
        device.close()
    work = predict(Workload.of_model(model, CONFIG)).work
    assert {name: counters[name] for name in ("edges", "features_read")} == {
        name: work[name] for name in ("edges", "features_read")}


@pytest.mark.grid
@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("vertices, hidden", [(65, 10), (150, 17)])
def test_word_sparse_features(vertices, hidden, dropout):
    """Three and five strips; one core has no row of the third one."""
    training = GraphTraining(graph=graph(vertices, 2, features=70, density=0.02), config=CONFIG,
                             hidden=(hidden,), dropout=dropout)
    fields = map(decode, training.job.instructions("train"))
    assert {Opcode.MATMUL, Opcode.GRADIENT} == {one["opcode"] for one in fields
                                                if one.get("sparse")}
    training.check()
