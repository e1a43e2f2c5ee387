# SPDX-License-Identifier: BSD-2-Clause
"""Exponentials: of each row, with random idles and back-pressure on every stream."""

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Split
from hypercast.rtl.vector.exponentials import Exponentials
from hypercast.rtl.vector.loss_layouts import group_limit
from tests.bench import get, put, run
from tests.rtl.flips import check_tables, parity_memories  # noqa: F401
from tests.rtl.vector.loss_rows import (
    CONFIGS,
    EITHER,
    PRESSURE,
    ROWS,
    Rows,
    configure,
    noting,
    passes_until_room,
)


@pytest.mark.grid
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
        assert train or not ctx.get(dut.powers.valid)

    run(dut, begin, powers, results,
        lambda ctx: put(ctx, dut.i, inputs, rows.rng, idle),
        lambda ctx: put(ctx, dut.logits, rows.labelled_logits(rows.used), rows.rng, idle),
        cycles=5000)


def test_a_row_that_nobody_needs_takes_no_groups():
    dut = Exponentials(PRESETS["test"])

    async def program(ctx):
        configure(ctx, dut, Rows(5, PRESETS["test"]))
        await put(ctx, dut.i, [{"split": int(Split.NONE), "weight": weight} for weight in (3, 7)])

    async def results(ctx):
        assert [row.weight for row in await get(ctx, dut.o, 2)] == [3, 7]

    run(dut, program, results, cycles=200)


def test_groups_wait_until_their_exponentials_have_room():
    """The longest row has; rows whose exponentials nobody needs do not wait."""
    config = PRESETS["test"]
    dut = Exponentials(config)
    passed = []

    async def program(ctx):
        configure(ctx, dut, Rows(3, config), groups=1)
        ctx.set(dut.i.p.split, Split.TRAIN)
        for stream in (dut.i, dut.logits):
            ctx.set(stream.valid, 1)
        ctx.set(dut.o.ready, 1)
        await ctx.tick().repeat(3 * group_limit(config))
        count = len(passed)
        assert count >= group_limit(config)
        await ctx.tick().repeat(20)
        assert len(passed) == count
        ctx.set(dut.i.p.split, Split.VALIDATION)
        await ctx.tick().repeat(20)
        assert len(passed) > count
        ctx.set(dut.i.valid, 0)
        await get(ctx, dut.powers, count)
        ctx.set(dut.powers.ready, 1)
        for _ in range(40):
            _, _, valid = await ctx.tick().sample(dut.powers.valid)
            assert not valid

    run(dut, program, background=[noting(dut.logits.ready, passed)], cycles=2000)


def test_groups_pass_until_a_sum_needs_room():
    """While nobody takes sums, all of the next row passes, but for its last group."""
    config = PRESETS["test"]
    dut = Exponentials(config)
    passed = []

    async def program(ctx):
        configure(ctx, dut, Rows(4, config))
        ctx.set(dut.i.p.split, Split.TEST)
        await passes_until_room(ctx, dut, (dut.i, dut.logits), passed)

    run(dut, program, background=[noting(dut.logits.ready, passed)], cycles=1000)


def test_rows_whose_exponentials_nobody_needs_take_no_room():
    """After as many as there is room for, those of a row to train on still find it."""
    config = PRESETS["test"]
    dut = Exponentials(config)
    count = group_limit(config) + Exponentials._FOLLOWING

    async def program(ctx):
        configure(ctx, dut, Rows(6, config), groups=1, train=1)
        await put(ctx, dut.i, [{"split": int(split), "label": 0} for split in (
            *[Split.VALIDATION] * count, Split.TRAIN)])

    async def results(ctx):
        await get(ctx, dut.o, count + 1)

    run(dut, program, results, lambda ctx: put(ctx, dut.logits, [{}] * (count + 1)),
        lambda ctx: get(ctx, dut.powers, 1), cycles=1000)


def test_a_changed_table_is_reported(parity_memories):  # noqa: F811
    check_tables(Exponentials(PRESETS["test"]), parity_memories, 8)
