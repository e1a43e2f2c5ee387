# SPDX-License-Identifier: BSD-2-Clause
"""Normalizer: losses and reciprocals, with random idles and back-pressure on every stream."""

import numpy as np

from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Split
from hypercast.rtl.limits import CLASSES
from hypercast.rtl.vector.normalizer import Normalizer
from tests.bench import get, put, run
from tests.rtl.flips import check_tables, parity_memories  # noqa: F401
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


@CONFIGS
def test_as_many_classes_as_there_can_be(config):
    """Totals up to that of ``CLASSES`` equal logits: the largest shifts."""
    dut = Normalizer(config)
    totals = [total for bits in range(16, (CLASSES << 16).bit_length())
              for total in (1 << bits, 3 << bits - 1) if total <= CLASSES << 16]
    found = []

    async def results(ctx):
        found.extend(await get(ctx, dut.o, len(totals)))

    rows = [{"split": Split.TRAIN, "weight": 1 << 15, "correct": 0, "wrong": 0, "total": total,
             "own": 0} for total in totals]
    run(dut, results,
        lambda ctx: put(ctx, dut.i, rows, np.random.default_rng(0), 0.0), cycles=5000)
    exponents = [total.bit_length() - 17 for total in totals]
    assert max(exponents) == CLASSES.bit_length() - 1 > 7
    assert [row.n for row in found] == exponents
    assert [row.reciprocal for row in found] == [
        (1 << 33 + n) // total for n, total in zip(exponents, totals, strict=True)]


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert Normalizer.LATENCY == 11


def test_a_changed_table_is_reported(parity_memories):  # noqa: F811
    check_tables(Normalizer(PRESETS["test"]), parity_memories, 1)
