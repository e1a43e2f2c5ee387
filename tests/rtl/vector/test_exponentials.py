"""Exponentials: of each row, with random idles and back-pressure on every stream."""

import pytest

from hypercast.rtl.vector.exponentials import Exponentials
from tests.bench import get, put, run
from tests.rtl.vector.loss_rows import CONFIGS, EITHER, PRESSURE, ROWS, Rows, configure


@CONFIGS
@PRESSURE
@EITHER
@pytest.mark.parametrize("train", [0, 1])
def test_exponentials(config, idle, stall, train, sigmoid):
    rows = Rows(2, config, sigmoid)
    dut = Exponentials(config)
    inputs = [{"label": int(rows.labels[i]), "split": int(rows.splits[i]),
               "weight": int(rows.weights[i]), "maximum": int(rows.maximum[i]),
               "hit": int(rows.hits[i])} for i in range(ROWS)]

    async def begin(ctx):
        configure(ctx, dut, rows, shift=rows.shift, train=train, sigmoid=sigmoid)

    async def powers(ctx):
        expected = rows.entries(rows.trained & bool(train))
        got = await get(ctx, dut.powers, len(expected), rows.rng, stall)
        assert [word.as_bits() for word in got] == expected

    async def results(ctx):
        got = await get(ctx, dut.o, ROWS, rows.rng, stall)
        for index, row in enumerate(got):
            assert (row.split, row.weight) == (rows.splits[index], rows.weights[index])
            assert not rows.used[index] or (row.correct, row.wrong, row.total, row.own) == (
                rows.correct[index], rows.wrong[index], rows.total[index], rows.own[index])

    run(dut, begin, powers, results,
        lambda ctx: put(ctx, dut.i, inputs, rows.rng, idle),
        lambda ctx: put(ctx, dut.logits, rows.labelled_logits(rows.used), rows.rng, idle),
        cycles=5000)
