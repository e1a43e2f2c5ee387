# SPDX-License-Identifier: BSD-2-Clause
"""HP-GNN's formulas, worked out by hand."""

import pytest

from hypercast.benches.study.baseline import HP_GNN, Accelerator, like_ours, step_seconds
from hypercast.benches.study.batch import Batch, SampledLayer
from hypercast.rtl.config import PRESETS

BATCH = Batch(blocks=(SampledLayer(sources=1_000, destinations=100, edges=2_000),
                      SampledLayer(sources=100, destinations=10, edges=150)))
WIDTHS = (50, 20, 8)


def machine(**changes):
    """One on which nothing takes time but what is slowed down."""
    fast = {"macs": 1e12, "units": 1e12, "bandwidth": 1e18, "clock": 1.0, "element_bytes": 4}
    return Accelerator(**fast | changes)


def test_loading():
    # 1,000 rows of 50 elements with efficiency 0.3, then 100 rows of 20 with 0.9.
    seconds = step_seconds(BATCH, WIDTHS, machine(bandwidth=1e3))
    assert seconds == pytest.approx(1_000 * 50 * 4 / 300 + 100 * 20 * 4 / 900, rel=1e-6)


def test_aggregation():
    # Again in the backward pass, but not in the first layer; 16 elements a unit and cycle.
    seconds = step_seconds(BATCH, WIDTHS, machine(units=2))
    assert seconds == pytest.approx((2_000 * 50 + 2 * 150 * 20) / 32, rel=1e-6)


def test_update():
    # Three products of each layer, but two of the first.
    seconds = step_seconds(BATCH, WIDTHS, machine(macs=10))
    assert seconds == pytest.approx((2 * 100 * 50 * 20 + 3 * 10 * 20 * 8) / 10, rel=1e-6)


def test_the_slowest_counts_in_each_layer():
    seconds = step_seconds(BATCH, WIDTHS, machine(macs=10, units=2, bandwidth=1e3))
    load, aggregate, update = 1_000 * 50 * 4 / 300, 2_000 * 50 / 32, 100 * 50 * 20 / 10
    upper = max(100 * 20 * 4 / 900, 150 * 20 / 32, 160), max(150 * 20 / 32, 320)
    assert update > max(load, aggregate)
    assert seconds == pytest.approx(2 * update + sum(upper))


def test_like_ours():
    ours = like_ours(PRESETS["vcu128"], 250e6)
    assert ours == Accelerator(
        macs=16 * 256, units=32, bandwidth=32 * 32 * 250e6, clock=250e6, element_bytes=2)
    # As many elements a cycle as our lanes take.
    assert ours.units * 16 == 16 * 2 * 16


def test_hp_gnn_differs_by_sampling():
    assert (HP_GNN["neighbour"].units, HP_GNN["subgraph"].units) == (4, 16)
