# SPDX-License-Identifier: BSD-2-Clause
"""WeightBank: contents through all read ports, their order, rows outstanding."""

import numpy as np
import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.memory.weight_bank import WeightBank
from tests.bench import put, run
from tests.rtl.flips import count_cycles, flip, parity_memories  # noqa: F401

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


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.data_width}bit")
@pytest.mark.parametrize(("host_idle", "arrival_idle"), [(0.9, 0.0), (0.5, 0.5), (0.2, 0.3)])
def test_contents(config, host_idle, arrival_idle):
    """Lanes bring rows of their own, in any order, while the host writes others.

    Then all are read through every port at a time, in orders of their own.
    """
    dut = WeightBank(config)
    rng = np.random.default_rng(1)
    contents = {}
    host, ports = [], [[] for _ in range(config.eject)]
    for row in rng.permutation(config.weight_rows).tolist():
        contents[row] = random_row(config, rng)
        owner = int(rng.integers(config.eject + 1))
        if owner == config.eject:
            host.append({"index": row, "payload": contents[row]})
        else:
            ports[owner].append({"index": row, "payload": contents[row]})

    async def program(ctx):
        arriving = sum(len(port) for port in ports)
        await expect(ctx, dut, arriving)
        while ctx.get(dut.busy):
            await ctx.tick()
            assert not ctx.get(dut.error)

    done = []

    def sender(rows, target, idle):
        async def bench(ctx):
            await put(ctx, target, rows, rng, idle)
            done.append(target)
        return bench

    def reader(port):
        async def bench(ctx):
            while len(done) < 2 + config.eject:
                await ctx.tick()
            for row in rng.permutation(config.weight_rows).tolist():
                await put(ctx, port.request, [row], rng, idle=0.4)
                assert ctx.get(port.data) == contents[row]
        return bench

    async def main(ctx):
        await program(ctx)
        while len(done) < 1 + config.eject:
            await ctx.tick()
        await ctx.tick()
        done.append(dut)

    run(dut, main, *(reader(port) for port in dut.reads), background=[
        sender(host, dut.host, host_idle),
        *(sender(rows, port, arrival_idle)
          for rows, port in zip(ports, dut.arrivals, strict=True))])


def test_the_first_port_goes_first():
    """And the last one reads whenever the others do not."""
    config = CONFIGS[1]
    dut = WeightBank(config)
    rng = np.random.default_rng(3)

    async def bench(ctx):
        for _ in range(100):
            valid = rng.random(len(dut.reads)) < 0.4
            for port, request in zip(dut.reads, valid, strict=True):
                ctx.set(port.request.valid, int(request))
            granted = [bool(ctx.get(port.request.ready)) for port in dut.reads]
            assert granted == [not valid[:index].any() for index in range(len(valid))]
            await ctx.tick()

    run(dut, bench)


def test_rows_of_all_ports_in_a_cycle():
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
        lambda ctx, port=port: put(ctx, dut.arrivals[port], [
            {"index": 4 * row + (port + row) % 4, "payload": row} for row in range(rows)])
        for port in range(4)])


def test_host_and_arrivals_take_turns():
    config = CONFIGS[0]
    dut = WeightBank(config)
    host = [{"index": row, "payload": row} for row in range(16)]
    run(dut, lambda ctx: put(ctx, dut.host, host),
        background=[lambda ctx: put(ctx, dut.arrivals[0], [{"index": 0, "payload": 1}] * 100)],
        cycles=34)


def test_counts_down_to_idle():
    config = CONFIGS[2]
    dut = WeightBank(config)
    port = dut.arrivals[1]

    async def bench(ctx):
        await expect(ctx, dut, 40)
        assert ctx.get(dut.busy)
        await put(ctx, port, [{"index": row, "payload": row} for row in range(39)])
        await ctx.tick()
        assert ctx.get(dut.busy)
        await put(ctx, port, [{"index": 39, "payload": 1}])
        await ctx.tick()
        assert not ctx.get(dut.busy) and not ctx.get(dut.error)
        await put(ctx, port, [{"index": 40, "payload": 1}])
        await ctx.tick()
        assert not ctx.get(dut.busy) and ctx.get(dut.error)
        await ctx.tick()
        assert not ctx.get(dut.error)

    run(dut, bench, cycles=60)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.data_width}bit")
def test_a_changed_row_is_reported(config, parity_memories):  # noqa: F811
    """Once for each time it is read, whoever reads it, and only then."""
    dut = WeightBank(config)
    rng = np.random.default_rng(2)
    faults = []

    async def bench(ctx):
        await put(ctx, dut.host, [{"index": row, "payload": random_row(config, rng)}
                                  for row in range(config.weight_rows)])
        await ctx.tick().repeat(2)
        flip(ctx, parity_memories[11 % config.eject], 11 // config.eject, config.data_width)
        for number, port in enumerate(dut.reads):
            for row in range(16):
                ctx.set(port.request.valid, 1)
                ctx.set(port.request.payload, row)
                await ctx.tick()
            ctx.set(port.request.valid, 0)
            await ctx.tick().repeat(3)
            assert len(faults) == number + 1

    run(dut, bench, background=[count_cycles(dut.fault, faults)])
