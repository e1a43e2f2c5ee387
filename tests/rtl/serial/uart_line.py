# SPDX-License-Identifier: BSD-2-Clause
"""A serial line as a test sees it: levels, cycle by cycle, with a bit length that may be off."""

from hypercast.rtl.serial.bit_period import FRACTION

__all__ = ["read_bytes", "send_bits", "send_byte"]


async def send_bits(ctx, line, bits, period, phase=0.0):
    """Drive a line, each bit for ``period`` / 16 cycles; returns the phase to go on with."""
    for bit in bits:
        ctx.set(line, bit)
        phase += period / FRACTION
        cycles = int(phase)
        phase -= cycles
        await ctx.tick().repeat(cycles)
    return phase


async def send_byte(ctx, line, byte, period, phase=0.0, stop=1):
    """Drive a line with a byte; returns the phase."""
    bits = [0, *(byte >> index & 1 for index in range(8)), stop]
    return await send_bits(ctx, line, bits, period, phase)


async def read_bytes(ctx, line, count, period):
    """Bytes from a line, each bit taken in its middle; fails without a stop bit."""
    values = []
    while len(values) < count:
        while ctx.get(line):
            await ctx.tick()
        elapsed, bits = 0.0, []
        for index in range(10):
            target = (index + 0.5) * period / FRACTION
            while elapsed + 1 <= target:
                await ctx.tick()
                elapsed += 1
            bits.append(ctx.get(line))
        assert bits[0] == 0 and bits[9] == 1, f"framing {bits}"
        values.append(sum(bit << index for index, bit in enumerate(bits[1:9])))
    return values
