# SPDX-License-Identifier: BSD-2-Clause
"""DrainWriter: rows in order, each word of masks as soon as it is full, and nothing else."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.vector.drain_writer import DrainWriter
from tests.bench import put, run
from tests.rtl.flips import count_cycles

_CONFIGS = {"tiny": PRESETS["tiny"], "test": PRESETS["test"], "wide": PRESETS["test"].replace(
    lanes=16, element_width=8)}


def _writes(config, rows, *, channel, address, masked, mask_address):
    """What memory is to get: (channel, address, data)."""
    writes, per, mask = [], config.mask_rows, []
    for number, row in enumerate(rows):
        writes.append((channel, address + number, row["word"]))
        mask.append(row["mask"])
        if masked and (len(mask) == per or number == len(rows) - 1):
            word = sum(bits << config.lanes * place for place, bits in enumerate(mask))
            writes.append((1, mask_address + number // per, word))
            mask = []
    return writes


async def _drain(ctx, dut, rows, rng, stall, **fields):
    """Drain rows; returns what was written, and the cycles it took."""
    for name, value in {"count": len(rows), **fields, "start": 1}.items():
        ctx.set(getattr(dut, name), value)
    assert not ctx.get(dut.busy)
    await ctx.tick()
    ctx.set(dut.start, 0)
    for name in ("count", "address", "mask_address"):
        ctx.set(getattr(dut, name), int(rng.integers(1 << 8)))
    written, cycles, held = [], 0, None
    while ctx.get(dut.busy):
        ready = rng.random() >= stall
        ctx.set(dut.write.ready, int(ready))
        _, _, valid, write = await ctx.tick().sample(dut.write.valid, dut.write.payload)
        cycles += 1
        assert held is None or (valid and write == held), "a write was not held"
        held = write if valid and not ready else None
        if valid and ready:
            written.append((write.channel, write.address, write.data))
    ctx.set(dut.write.ready, 0)
    return written, cycles


@pytest.mark.parametrize("config", _CONFIGS.values(), ids=_CONFIGS)
@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.4, 0.4)])
def test_random_lists(config, idle, stall):
    """Back to back, of any length, with masks and without, to both channels."""
    rng = np.random.default_rng(round(10 * idle + 100 * stall))
    dut, per = DrainWriter(config), config.mask_rows
    lists = []
    for count in (0, 1, 2, per - 1, per, per + 1, 3 * per, 3 * per - 1):
        for masked in (0, 1):
            rows = [{"word": int.from_bytes(rng.bytes(config.data_width // 8), "little"),
                     "mask": int(rng.integers(1 << config.lanes))} for _ in range(count)]
            fields = {"channel": int(rng.integers(2)), "masked": masked,
                      "address": int(rng.integers(config.channel_words // 2)),
                      "mask_address": int(rng.integers(config.channel_words // 2))}
            lists.append((rows, fields))
    accepted = []

    async def bench(ctx):
        for rows, fields in lists:
            expected = _writes(config, rows, **fields)
            written, cycles = await _drain(ctx, dut, rows, rng, stall, **fields)
            assert written == expected
            assert cycles >= len(expected)
            if not idle and not stall:
                assert cycles == len(expected)

    run(dut, bench, background=[
        lambda ctx: put(ctx, dut.i, [row for rows, _ in lists for row in rows], rng, idle),
        count_cycles(dut.written, accepted)])
    assert len(accepted) == sum(len(rows) for rows, _ in lists)


@pytest.mark.parametrize("count", [1 << bit for bit in range(15)])
def test_as_many_rows_as_an_instruction_can_have(count):
    dut = DrainWriter(PRESETS["tiny"])

    async def bench(ctx):
        ctx.set(dut.count, count)
        ctx.set(dut.start, 1)
        await ctx.tick()
        ctx.set(dut.start, 0)
        assert ctx.get(dut.busy)
        ctx.set(dut.write.ready, 1)
        await put(ctx, dut.i, [{"word": 1}])
        assert ctx.get(dut.busy) == (count > 1)

    run(dut, bench)
