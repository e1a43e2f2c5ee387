# SPDX-License-Identifier: BSD-2-Clause
"""Maximum: of each row, with random idles and back-pressure on every stream."""

from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Split
from hypercast.rtl.vector.maximum import Maximum
from tests.bench import get, put, run
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


@CONFIGS
@PRESSURE
@EITHER
def test_maximum(config, idle, stall, sigmoid):
    rows = Rows(1, config, sigmoid)
    dut = Maximum(config)
    labels = [{"label": int(label), "split": int(split), "weight": int(weight)}
              for label, split, weight in zip(rows.labels, rows.splits, rows.weights, strict=True)]

    async def begin(ctx):
        configure(ctx, dut, rows)

    async def logits(ctx):
        expected = rows.labelled_logits(rows.used)
        got = await get(ctx, dut.logits, len(expected), rows.rng, stall)
        assert [group.as_bits() for group in got] == expected

    async def results(ctx):
        got = await get(ctx, dut.o, ROWS, rows.rng, stall)
        for index, row in enumerate(got):
            assert (row.label, row.split, row.weight) == (
                rows.labels[index], rows.splits[index], rows.weights[index])
            assert not rows.used[index] or (row.maximum, row.hit) == (
                rows.maximum[index], rows.hits[index])

    run(dut, begin, logits, results,
        lambda ctx: put(ctx, dut.i, rows.labelled_logits(slice(None)), rows.rng, idle),
        lambda ctx: put(ctx, dut.labels, labels, rows.rng, idle), cycles=5000)


def test_groups_pass_until_a_result_needs_room():
    """While nobody takes results, all of the next row passes, but for its last group."""
    config = PRESETS["test"]
    rows = Rows(2, config)
    dut = Maximum(config)
    passed = []

    async def program(ctx):
        configure(ctx, dut, rows)
        ctx.set(dut.labels.p.split, Split.TRAIN)
        ctx.set(dut.logits.ready, 1)
        await passes_until_room(ctx, dut, (dut.i, dut.labels), passed)

    run(dut, program, background=[noting(dut.logits.valid, passed)], cycles=500)
