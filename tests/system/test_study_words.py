# SPDX-License-Identifier: BSD-2-Clause
"""Work that the cycle model counts, against the counters of a simulated chip."""

import itertools

import pytest

from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.training.prepare import open_device
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from tests.system.chips import WIDE, GraphTraining, random_graph

ORDERS = list(itertools.product((COMBINE_FIRST, AGGREGATE_FIRST), repeat=2))
#: Counters of work that no padding adds to.
COUNTERS = ("array_words", "edges", "features_written")


@pytest.mark.parametrize("orders", ORDERS)
def test_work_of_a_full_batch(orders):
    graph = random_graph(60, 300, features=19, classes=6)
    model = GraphTraining(graph=graph, config=WIDE, hidden=(10,), orders=orders).model()
    device = open_device("rtl", model, WIDE)
    try:
        device.train_step()
        counters = device.counters
    finally:
        device.close()
    work = predict(Workload.of_model(model, WIDE)).work
    assert {name: work[name] for name in COUNTERS} == {
        name: sum(counters[name]) for name in COUNTERS}
