"""WeightBank: contents through both read ports, host over arrivals, rows outstanding."""

import numpy as np
import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.memory.weight_bank import WeightBank
from tests.bench import put, run

CONFIGS = [
    Config(lanes=2, element_width=8, weight_rows=16, accumulator_rows=64),
    Config(lanes=4, element_width=16, weight_rows=32, accumulator_rows=16, planes=2, eject=2),
    Config(lanes=16, element_width=16, weight_rows=64, accumulator_rows=16, eject=4),
]


def random_row(config, rng):
    return int.from_bytes(rng.bytes(config.data_width // 8), "little")


async def expect(ctx, dut, rows):
    ctx.set(dut.expect_valid, 1)
    ctx.set(dut.expect, rows)
    await ctx.tick()
    ctx.set(dut.expect_valid, 0)


async def read(ctx, dut, config, rng):
    """All rows, through each port, in orders of their own."""
    orders = [rng.permutation(config.weight_rows) for _ in range(2)]
    found = [[0] * config.weight_rows for _ in range(2)]
    for places in zip(*orders, strict=True):
        ctx.set(dut.tile.row, int(places[0]))
        ctx.set(dut.side.row, int(places[1]))
        await ctx.tick()
        found[0][places[0]] = ctx.get(dut.tile.data)
        found[1][places[1]] = ctx.get(dut.side.data)
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.data_width}bit")
@pytest.mark.parametrize(("host_idle", "arrival_idle"), [(0.9, 0.0), (0.5, 0.5), (0.2, 0.3)])
def test_contents(config, host_idle, arrival_idle):
    """Lanes bring rows of their own, in any order, while the host writes others."""
    dut = WeightBank(config)
    rng = np.random.default_rng(1)
    contents = {}
    host, lanes = [], [[] for _ in range(config.eject)]
    for row in rng.permutation(config.weight_rows).tolist():
        contents[row] = random_row(config, rng)
        owner = int(rng.integers(config.eject + 1))
        if owner == config.eject:
            host.append({"row": row, "data": contents[row]})
        else:
            lanes[owner].append({"index": row, "payload": contents[row]})

    async def program(ctx):
        arriving = sum(len(lane) for lane in lanes)
        await expect(ctx, dut, arriving)
        while ctx.get(dut.busy):
            await ctx.tick()
            assert not ctx.get(dut.error)

    async def check(ctx):
        assert await read(ctx, dut, config, rng) == [
            contents[row] for row in range(config.weight_rows)]

    done = []

    def sender(rows, target, idle):
        async def bench(ctx):
            await put(ctx, target, rows, rng, idle)
            done.append(target)
        return bench

    async def main(ctx):
        await program(ctx)
        while len(done) < 1 + config.eject:
            await ctx.tick()
        await ctx.tick()
        await check(ctx)

    run(dut, main, background=[
        sender(host, dut.host_write, host_idle),
        *(sender(rows, lane, arrival_idle)
          for rows, lane in zip(lanes, dut.arrivals, strict=True))])


def test_rows_of_all_lanes_in_a_cycle():
    """If they lie in different memories."""
    config = CONFIGS[2]
    dut = WeightBank(config)
    rows = 16

    async def program(ctx):
        await expect(ctx, dut, 4 * rows)
        cycles = 1
        while ctx.get(dut.busy):
            await ctx.tick()
            cycles += 1
        assert cycles <= rows + 3

    run(dut, program, background=[
        lambda ctx, lane=lane: put(ctx, dut.arrivals[lane], [
            {"index": 4 * row + (lane + row) % 4, "payload": row} for row in range(rows)])
        for lane in range(4)])


def test_host_write_is_always_taken():
    """Also while arrivals keep coming, which then wait."""
    config = CONFIGS[0]
    dut = WeightBank(config)
    host = [{"row": row, "data": row} for row in range(16)]
    run(dut, lambda ctx: put(ctx, dut.host_write, host),
        background=[lambda ctx: put(ctx, dut.arrivals[0], [{"index": 0, "payload": 1}] * 100)],
        cycles=17)


def test_counts_down_to_idle():
    config = CONFIGS[2]
    dut = WeightBank(config)
    lane = dut.arrivals[1]

    async def bench(ctx):
        await expect(ctx, dut, 40)
        assert ctx.get(dut.busy)
        await put(ctx, lane, [{"index": row, "payload": row} for row in range(39)])
        await ctx.tick()
        assert ctx.get(dut.busy)
        await put(ctx, lane, [{"index": 39, "payload": 1}])
        await ctx.tick()
        assert not ctx.get(dut.busy) and not ctx.get(dut.error)
        await put(ctx, lane, [{"index": 40, "payload": 1}])
        await ctx.tick()
        assert not ctx.get(dut.busy) and ctx.get(dut.error)
        await ctx.tick()
        assert not ctx.get(dut.error)

    run(dut, bench, cycles=60)
