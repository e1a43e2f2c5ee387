# SPDX-License-Identifier: BSD-2-Clause
"""UartTransmitter: bits of the right length, bytes without a gap."""

import numpy as np
import pytest

from hypercast.rtl.serial.uart_transmitter import UartTransmitter
from tests.bench import put, run
from tests.rtl.serial.uart_line import read_bytes


@pytest.mark.parametrize("period", [64, 72, 133])
@pytest.mark.parametrize("idle", [0.0, 0.98])
def test_bytes(period, idle):
    rng = np.random.default_rng(period)
    values = [0, 255, 0x55, *rng.integers(256, size=20).tolist()]
    dut = UartTransmitter(period)
    cycles = {}

    async def sender(ctx):
        await put(ctx, dut.i, values, rng, idle)

    async def receiver(ctx):
        assert await read_bytes(ctx, dut.tx, len(values), period) == values

    async def clock(ctx):
        while True:
            cycles["seen"] = cycles.get("seen", 0) + 1
            await ctx.tick()

    run(dut, sender, receiver, background=[clock], cycles=50_000)
    if not idle:
        assert cycles["seen"] == pytest.approx(len(values) * 10 * period / 16, abs=period / 16 + 3)


def test_bits_that_are_too_short():
    with pytest.raises(ValueError, match=r"at least 4 cycles, not 1\.0"):
        UartTransmitter(16)
