# SPDX-License-Identifier: BSD-2-Clause
"""Workloads: of a graph of very many strips of rows, some stand for all."""

import pytest

from hypercast.host.compiler.vertices import strips_of
from hypercast.host.cycle_model import workload as module
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.rtl.config import PRESETS

CONFIG = PRESETS["test"].replace(accumulator_rows=16, row_counts=1024, weight_rows=4096,
                                 program_rows=4096, tensors=256)


def whole(strips, orders, config=CONFIG):
    vertices = strips * config.strip_rows * config.cores - 5
    return Workload.of_whole_graph(vertices, 20 * vertices,
                                   Network.of_widths([40, 24, 7], orders=orders), config)


@pytest.mark.parametrize("strips", [1, 2, 96])
def test_all_strips_are_there(strips):
    found = whole(strips, COMBINE_FIRST)
    assert found.factor == 1 and found.vertices == found.whole
    assert len(found.loads(1, False)) == strips


@pytest.mark.parametrize("strips", [97, 200, 5_000])
def test_some_stand_for_all(strips):
    found = whole(strips, COMBINE_FIRST)
    own = len(strips_of(found.vertices[0], CONFIG))
    assert 40 <= own == len(found.loads(2, True)) <= 96 and strips <= own * found.factor
    assert found.whole == (strips * 64 - 5,) * 3


@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
def test_their_step_is_that_of_all(orders, monkeypatch):
    """Cycles, bounds, work, and what there is too little of."""
    small = CONFIG.replace(channel_words=1024)
    every = predict(whole(24, orders, small))
    monkeypatch.setattr(module, "_STRIPS", 12)
    asked = whole(24, orders, small)
    some = predict(asked)
    assert asked.factor == 2
    assert some.cycles == pytest.approx(every.cycles, rel=0.10)
    assert some.bound == pytest.approx(every.bound, rel=0.02)
    assert some.chain == pytest.approx(every.chain, rel=0.02)
    assert some.loads == pytest.approx(every.loads, rel=0.05)
    assert sum(phase.cycles for phase in some.phases) == pytest.approx(some.cycles, abs=20)
    [one], [other] = some.shortages, every.shortages
    assert one.field == other.field == "channel_words"
    assert one.needed == pytest.approx(other.needed, rel=0.02)
