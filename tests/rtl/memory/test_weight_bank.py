"""WeightBank: contents through both read ports, host over arrivals, rows outstanding."""

import numpy as np
import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.memory.weight_bank import WeightBank
from tests.bench import put, run

CONFIGS = [
    Config(lanes=2, element_width=8, weight_rows=16, accumulator_rows=64),
    Config(lanes=16, element_width=16, weight_rows=64, accumulator_rows=16),
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.data_width}bit")
@pytest.mark.parametrize(("host_idle", "arrival_idle"), [(0.9, 0.0), (0.5, 0.5), (0.2, 0.3)])
def test_against_model(config, host_idle, arrival_idle):
    """Every cycle, both read ports, ``busy`` and ``error`` are what a model says."""
    dut = WeightBank(config)
    rng = np.random.default_rng(1)
    cycles = 400

    def rows(first, second):
        return [{first: int(rng.integers(config.weight_rows)),
                 second: int.from_bytes(rng.bytes(config.data_width // 8), "little")}
                for _ in range(cycles)]

    async def watch(ctx):
        contents = [0] * config.weight_rows
        outstanding = 0
        reads = None
        error = False
        busy_cycles = 0
        errors = 0
        for _ in range(cycles):
            addresses = [int(rng.integers(config.weight_rows)) for _ in range(2)]
            expect = int(rng.integers(6)) if rng.random() < 0.03 else None
            ctx.set(dut.tile.row, addresses[0])
            ctx.set(dut.side.row, addresses[1])
            ctx.set(dut.expect_valid, expect is not None)
            ctx.set(dut.expect, 9 if expect is None else expect)
            _, _, tile, side, busy, seen, host_valid, host, valid, ready, arrival = (
                await ctx.tick().sample(
                    dut.tile.data, dut.side.data, dut.busy, dut.error,
                    dut.host_write.valid, dut.host_write.payload,
                    dut.arrivals.valid, dut.arrivals.ready, dut.arrivals.payload))
            assert reads is None or [tile, side] == reads
            assert (busy, seen) == (outstanding > 0, error)
            assert ready != host_valid
            reads = [contents[address] for address in addresses]
            outstanding += expect or 0
            error = bool(valid and ready and not outstanding)
            errors += error
            busy_cycles += busy
            if host_valid:
                contents[host.row] = host.data
            elif valid:
                contents[arrival.index] = arrival.payload
                outstanding -= not error
        assert errors and busy_cycles

    run(dut, watch, background=[
        lambda ctx: put(ctx, dut.host_write, rows("row", "data"), rng, host_idle),
        lambda ctx: put(ctx, dut.arrivals, rows("index", "payload"), rng, arrival_idle)])


def test_host_write_is_always_taken():
    """Also while arrivals keep coming, which then wait."""
    config = CONFIGS[0]
    dut = WeightBank(config)
    host = [{"row": row, "data": row} for row in range(16)]
    run(dut, lambda ctx: put(ctx, dut.host_write, host),
        background=[lambda ctx: put(ctx, dut.arrivals, [{"index": 0, "payload": 1}] * 100)],
        cycles=17)


def test_counts_down_to_idle():
    config = CONFIGS[1]
    dut = WeightBank(config)

    async def bench(ctx):
        ctx.set(dut.expect_valid, 1)
        ctx.set(dut.expect, 40)
        await ctx.tick()
        ctx.set(dut.expect_valid, 0)
        assert ctx.get(dut.busy)
        await put(ctx, dut.arrivals, [{"index": row, "payload": row} for row in range(39)])
        assert ctx.get(dut.busy)
        await put(ctx, dut.arrivals, [{"index": 39, "payload": 1}])
        assert not ctx.get(dut.busy) and not ctx.get(dut.error)
        await put(ctx, dut.arrivals, [{"index": 40, "payload": 1}])
        assert not ctx.get(dut.busy) and ctx.get(dut.error)
        await ctx.tick()
        assert not ctx.get(dut.error)

    run(dut, bench, cycles=60)
