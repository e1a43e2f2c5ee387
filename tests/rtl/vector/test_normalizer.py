"""Normalizer: losses and reciprocals, with random idles and back-pressure on every stream."""

import numpy as np

from hypercast.rtl.vector.normalizer import Normalizer
from tests.bench import get, put, run
from tests.rtl.vector.loss_rows import CONFIGS, EITHER, PRESSURE, ROWS, Rows, configure


@CONFIGS
@PRESSURE
@EITHER
def test_normalizer(config, idle, stall, sigmoid):
    rows = Rows(3, config, sigmoid)
    dut = Normalizer(config)
    inputs = [{"split": int(rows.splits[i]), "weight": int(rows.weights[i]),
               "correct": int(rows.correct[i]), "wrong": int(rows.wrong[i]),
               "total": int(rows.total[i]), "own": int(rows.own[i])} for i in range(ROWS)]
    losses = []

    async def begin(ctx):
        configure(ctx, dut, rows, sigmoid=sigmoid)

    async def watch(ctx):
        while True:
            _, _, valid, *loss = await ctx.tick().sample(
                dut.loss_valid, dut.loss, dut.split, dut.correct, dut.wrong)
            if valid:
                losses.append(tuple(loss))

    async def results(ctx):
        got = await get(ctx, dut.o, ROWS, rows.rng, stall)
        for index, row in enumerate(got):
            assert row.trained == rows.trained[index]
            assert not row.trained or (row.weight, row.n) == (rows.weights[index], rows.n[index])
            assert sigmoid or not row.trained or row.reciprocal == rows.reciprocal[index]
        await ctx.tick()
        assert losses == [(rows.result.loss[i], rows.splits[i], rows.correct[i], rows.wrong[i])
                          for i in np.flatnonzero(rows.used)]

    run(dut, begin, results, lambda ctx: put(ctx, dut.i, inputs, rows.rng, idle),
        background=[watch], cycles=5000)


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert Normalizer.LATENCY == 11
