# SPDX-License-Identifier: BSD-2-Clause
"""UartReceiver on lines with clocks that are off, spikes, and broken bytes."""

import numpy as np
import pytest

from hypercast.rtl.serial.uart_receiver import UartReceiver
from tests.bench import run
from tests.rtl.serial.uart_line import send_bits, send_byte


def receive(dut, drive, *, cycles=20_000):
    """What ``drive(ctx)`` makes the receiver report, in order: bytes, and ``error``."""
    seen = []

    async def watch(ctx):
        while True:
            _, _, valid, data, error = await ctx.tick().sample(dut.valid, dut.data, dut.error)
            assert not (valid and error)
            if valid:
                seen.append(data)
            if error:
                seen.append("error")

    async def bench(ctx):
        await ctx.tick().repeat(10)
        await drive(ctx)
        await ctx.tick().repeat(20 * 16)

    run(dut, bench, background=[watch], cycles=cycles)
    return seen


@pytest.mark.parametrize("period", [64, 72, 133, 267])
@pytest.mark.parametrize("deviation", [-0.02, 0.0, 0.02])
def test_bytes_back_to_back(period, deviation):
    rng = np.random.default_rng(period)
    values = [0, 255, 0x55, 0xAA, *rng.integers(256, size=30).tolist()]

    async def drive(ctx):
        phase = float(rng.random())
        for value in values:
            phase = await send_byte(ctx, dut.rx, value, period * (1 + deviation), phase)

    dut = UartReceiver(period)
    assert receive(dut, drive) == values


def test_a_byte_without_stop_bit_is_an_error():
    async def drive(ctx):
        await send_byte(ctx, dut.rx, 0x12, 64)
        await send_byte(ctx, dut.rx, 0x34, 64, stop=0)
        await send_bits(ctx, dut.rx, [1] * 2, 64)
        await send_byte(ctx, dut.rx, 0x56, 64)

    dut = UartReceiver(64)
    assert receive(dut, drive) == [0x12, "error", 0x56]


def test_a_broken_line_is_one_error():
    async def drive(ctx):
        await send_bits(ctx, dut.rx, [0] * 100, 64)
        await send_bits(ctx, dut.rx, [1], 64)
        await send_byte(ctx, dut.rx, 0x56, 64)

    dut = UartReceiver(64)
    assert receive(dut, drive) == ["error", 0x56]


def test_a_spike_is_no_start_bit():
    async def drive(ctx):
        for length in (1, 2):  # the second passes the majority, but not the start bit's middle
            ctx.set(dut.rx, 0)
            await ctx.tick().repeat(length)
            ctx.set(dut.rx, 1)
            await ctx.tick().repeat(20)
        await send_byte(ctx, dut.rx, 0x78, 128)

    dut = UartReceiver(128)
    assert receive(dut, drive) == [0x78]


@pytest.mark.parametrize("spike", range(16))
def test_spikes_within_a_byte_do_not_matter(spike):
    """Wherever they are, of one cycle: in the middle of bits as well."""
    async def drive(ctx):
        for bit in [0, *(0x96 >> index & 1 for index in range(8)), 1]:
            for cycle in range(16):
                ctx.set(dut.rx, bit ^ (cycle == spike and (bit == 0 or spike < 15)))
                await ctx.tick()

    dut = UartReceiver(256)
    assert receive(dut, drive) == [0x96]


def test_bits_that_are_too_short():
    with pytest.raises(ValueError, match=r"at least 4 cycles, not 2\.0"):
        UartReceiver(32)
