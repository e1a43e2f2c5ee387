# SPDX-License-Identifier: BSD-2-Clause
"""Tests of what the vector unit's engines share, with instructions of all kinds in turn."""

import pytest

from hypercast.reference.arithmetic import softmax_gradient
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import DrainSource, Opcode
from hypercast.rtl.vector.vector_unit import VectorUnit
from tests.rtl.flips import check_tables, parity_memories  # noqa: F401
from tests.rtl.vector.vector_bench import VectorBench, pack, unpack

_CONFIG = PRESETS["test"]
_LOGITS, _INFO, _GRADIENT, _STATE = 0, 100, 200, 300


def _train_record(label):
    return label | 1 << 13


@pytest.mark.parametrize("stall, latency", [(0.0, 1), (0.4, 30)])
def test_engines_take_turns(stall, latency):
    """Logits are drained, their loss taken, and weights updated, each reading what was written."""
    bench = VectorBench(_CONFIG, latency=latency, stall=stall)
    rows = 3

    async def testbench(ctx):
        for turn in range(3):
            bench.array[0, :rows] = [[8, 16, -24, 0], [-40, 80, 0, 8], [16, 16, 16, 16]]
            _, peak = await bench.execute(
                ctx, Opcode.DRAIN, local_rows=rows, row_limit=rows, shift=3,
                source=DrainSource.ARRAY, address=_LOGITS)
            assert peak == 7
            assert unpack(bench.channels[0][_LOGITS + 1], 16, 4) == [-5, 10, 0, 1]

            bench.channels[1][_INFO] = pack([_train_record(1)] * rows, 16)
            _, peak = await bench.execute(
                ctx, Opcode.LOSS, local_rows=rows, address=_LOGITS, stride=rows, panels=1,
                classes=4, info=_INFO, destination=_GRADIENT, shift=18, aux_shift=10, train=1)
            assert peak == 33
            assert ctx.get(bench.dut.hits[0]) == 2 * (turn + 1)
            logits = [unpack(bench.channels[0][_LOGITS + row], 16, 4) for row in range(rows)]
            loss = softmax_gradient(logits, [1] * rows, 10).loss.sum()
            assert [ctx.get(one) for one in bench.dut.losses] == [loss * (turn + 1), 0, 0]
            gradient = unpack(bench.channels[1][_GRADIENT], 16, 4)
            assert sum(gradient) in range(-3, 4) and gradient[1] < 0

            bench.aggregation[0, 0] = [1 << 20, 0, -1 << 20, 0]
            _, peak = await bench.execute(
                ctx, Opcode.UPDATE, rows=1, state=_STATE, shift=4, aux_shift=16,
                momentum=0, rate=1)
            assert peak == 21 + (turn > 0)

    bench.run(testbench)


@pytest.mark.parametrize("opcode, operands", [
    (Opcode.DRAIN, {"row_limit": 3, "mask_read": 1}),
    (Opcode.LOSS, {"panels": 1, "classes": 3, "info": _INFO}),
    (Opcode.UPDATE, {"rows": 4, "state": _STATE})])
def test_waiting_for_memory_is_counted(opcode, operands):
    bench = VectorBench(_CONFIG, latency=50)

    async def testbench(ctx):
        await bench.execute(ctx, opcode, local_rows=3, **operands)
        assert 20 < bench.counters["starved"] < 200

    bench.run(testbench)


@pytest.mark.parametrize("opcode, operands", [
    (Opcode.DRAIN, {"row_limit": 9, "row_start": 5}),
    (Opcode.DRAIN, {"row_limit": 0, "mask_write": 1, "bias": 1}),
    (Opcode.LOSS, {"panels": 1, "classes": 3, "train": 1}),
    (Opcode.UPDATE, {"rows": 0}),
])
def test_nothing_to_do(opcode, operands):
    bench = VectorBench(_CONFIG, latency=10)

    async def testbench(ctx):
        rows = 0 if opcode is Opcode.LOSS else 5
        cycles, peak = await bench.execute(ctx, opcode, local_rows=rows, **operands)
        assert cycles <= 16
        assert peak == 0
        assert not any(bench.counters.values())
        assert not bench.flits

    bench.run(testbench)


@pytest.mark.parametrize("opcode, operands", [
    (Opcode.DRAIN, {"row_limit": 3, "shift": 3}),
    (Opcode.LOSS, {"panels": 1, "classes": 4, "info": _INFO, "train": 1, "destination": _GRADIENT}),
    (Opcode.UPDATE, {"rows": 1, "state": _STATE, "rate": (1 << 16) - 1})])
def test_saturations_of_every_engine_are_counted(opcode, operands):
    """Elements of three rows saturate, or a row's momenta, masters and operands."""
    bench = VectorBench(_CONFIG)

    async def testbench(ctx):
        bench.array[0, :3] = 1 << 40
        bench.aggregation[0, 0] = 1 << 40
        bench.channels[1][_INFO] = pack([_train_record(1)] * 3, 16)
        await bench.execute(ctx, opcode, local_rows=3, **operands)
        assert bench.counters["saturations"] == 3 * _CONFIG.lanes

    bench.run(testbench)


def test_busy_until_writes_are_visible():
    bench = VectorBench(_CONFIG, latency=200)
    rows = 2

    async def testbench(ctx):
        bench.array[0, :rows] = 1
        await bench.execute(ctx, Opcode.DRAIN, local_rows=rows, row_limit=rows, address=50)
        assert list(bench.channels[0][50:50 + rows]) == [pack([1] * 4, 16)] * rows

    bench.run(testbench)


def test_a_changed_table_is_reported(parity_memories):  # noqa: F811
    check_tables(VectorUnit(_CONFIG), parity_memories, 13)
