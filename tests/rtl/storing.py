# SPDX-License-Identifier: BSD-2-Clause
"""Stands in for the vector unit that keeps rows in an engine's memory."""

__all__ = ["store"]


async def store(ctx, port, base, words, rng, idle=0.0, *, first_row=0):
    """Store ``words`` from address ``base`` on, with random idles."""
    ctx.set(port.storing, 1)
    ctx.set(port.rows, 0)
    await ctx.tick()
    for index, word in enumerate(words):
        while rng.random() < idle:
            await ctx.tick()
        ctx.set(port.valid, 1)
        ctx.set(port.address, base + index)
        ctx.set(port.row, first_row + index)
        ctx.set(port.last, index == len(words) - 1)
        ctx.set(port.word, word)
        await ctx.tick()
        ctx.set(port.valid, 0)
        ctx.set(port.word, 0)
        ctx.set(port.rows, index + 1)
    ctx.set(port.storing, 0)
