# SPDX-License-Identifier: BSD-2-Clause
"""Words moved and stored, by hand."""

import itertools
from dataclasses import replace

import pytest

from hypercast.benches.study.traffic import ours, textbook
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.rtl.config import PRESETS

CONFIG = PRESETS["vcu128"]
ORDERS = list(itertools.product((COMBINE_FIRST, AGGREGATE_FIRST), repeat=2))
NETWORK = Network.of_widths((64, 32, 16))  # 4, 2 and 1 panels


def step(orders):
    """800 vertices in every layer."""
    workload = Workload.of_statistics(
        [800] * 3, [4_800] * 2, NETWORK, CONFIG).with_orders(orders)
    return workload, predict(workload)


def lists(workload):
    load, = workload.loads(1, False)
    return load.total_words + load.total_rows * CONFIG.send_record_width / CONFIG.word_width


@pytest.mark.parametrize("orders", ORDERS)
def test_stored(orders):
    workload, prediction = step(orders)
    matrices = 4 + 2 * (2 + 1)  # X; H1, Z2 and their gradients
    matrices += 2 * 2 if orders[0] == COMBINE_FIRST else 4
    matrices += 2 * (1 if orders[1] == COMBINE_FIRST else 2)
    masks, labels = 800 * 2 / 16, 800 / 16
    state = (65 * 2 + 33 * 1) * 4
    assert ours(workload, prediction, symmetric=True).stored == round(
        800 * matrices + 2 * lists(workload) + masks + labels + state)


def test_pipelining_stores_the_sums_of_two_batches():
    workload, prediction = step((AGGREGATE_FIRST, COMBINE_FIRST))
    ahead = replace(workload, sampled=True, pipelined=True)
    stored = [ours(one, prediction, symmetric=True).stored for one in (workload, ahead)]
    assert stored[1] - stored[0] == 800 * 4


@pytest.mark.parametrize("orders", ORDERS)
def test_transposes(orders):
    workload, prediction = step(orders)
    own, book = (traffic(workload, prediction, symmetric=True) for traffic in (ours, textbook))
    # X^T or (AX)^T of both layers, W2^T, and A^T where gradients are aggregated.
    copies = 800 * (4 + 2) + 32 * 1 + lists(workload) * (2 if orders[0] == COMBINE_FIRST else 1)
    assert book.stored - own.stored == pytest.approx(copies, abs=1)
    assert book.moved - own.moved == pytest.approx(2 * copies, abs=1)
