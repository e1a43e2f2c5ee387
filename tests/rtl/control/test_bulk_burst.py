# SPDX-License-Identifier: BSD-2-Clause
"""BulkBurst: what an address names, and what there is."""

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.bulk_burst import BulkBurst
from hypercast.rtl.registers import Space, bulk_address, striped_address
from tests.bench import run, shared


@pytest.mark.parametrize("preset", ["tiny", "cora"])
def test_what_there_is(preset):
    config = PRESETS[preset]
    dut = shared(BulkBurst, config)
    sizes = {Space.FEATURES: config.channel_words, Space.GRADIENTS: config.channel_words,
             Space.WEIGHTS: config.weight_rows}

    async def bench(ctx):
        async def allowed(address, length=0, size=4, burst=1):
            for name, value in {"address": address, "length": length, "size": size,
                                "burst": burst}.items():
                ctx.set(getattr(dut, name), value)
            await ctx.delay(1e-9)
            return ctx.get(dut.allowed)

        for core in (0, config.cores - 1, config.cores, 63):
            for space in range(8):
                beats = sizes.get(space, 0) * config.word_width // 128
                address = bulk_address(core, space, 0)
                there = bool(beats) and core < config.cores
                assert await allowed(address) == there
                assert ctx.get(dut.place) == {
                    "core": core, "space": space, "beat": 0, "striped": 0}
                if there:
                    end = address + 16 * beats
                    assert await allowed(end - 16) and await allowed(end - 1)
                    assert await allowed(end - 16 * 8, 7)
                    assert not await allowed(end - 16 * 8, 8)
                    assert not await allowed(end)
                    assert not await allowed(bulk_address(core, space, (1 << 29) - 16), 255)
        for size in range(8):
            for burst in range(4):
                assert await allowed(0x4000_0000, 1, size, burst) == (size == 4 and burst == 1)
        for bit in range(39, 64):
            assert not await allowed(0x4000_0000 | 1 << bit)

    run(dut, bench)


@pytest.mark.parametrize("preset", ["tiny", "cora", "one core"])
def test_what_there_is_of_all_cores(preset):
    config = PRESETS["kv260"].replace(dimensions=0) if preset == "one core" else PRESETS[preset]
    dut = shared(BulkBurst, config)
    end = config.cores * config.channel_words * config.word_width // 8

    async def bench(ctx):
        async def allowed(address, length=0, size=4):
            for name, value in {"address": address, "length": length, "size": size,
                                "burst": 1}.items():
                ctx.set(getattr(dut, name), value)
            await ctx.delay(1e-9)
            return ctx.get(dut.allowed)

        for space in (Space.FEATURES, Space.GRADIENTS):
            for offset in (0, 16, 16 * 77, end - 16, end - 1):
                assert await allowed(striped_address(space, offset))
                assert ctx.get(dut.place) == {
                    "core": 0, "space": space, "beat": offset // 16, "striped": 1}
            assert await allowed(striped_address(space, end - 16 * 8), 7)
            assert not await allowed(striped_address(space, end - 16 * 8), 8)
            assert not await allowed(striped_address(space, 0), 0, 3)
            for offset in (end, 2 * end, (1 << 37) - 16):
                assert not await allowed(striped_address(space, offset))
            assert not await allowed(striped_address(space, (1 << 37) - 16), 255)
            for bit in range(39, 64):
                assert not await allowed(striped_address(space, 0) | 1 << bit)

    run(dut, bench)
