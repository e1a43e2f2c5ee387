# SPDX-License-Identifier: BSD-2-Clause
"""UpdateWriter: every word of new state where it belongs, and every new row sent once, in order."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS, Config
from hypercast.rtl.layouts import FlitKind
from hypercast.rtl.vector.update_writer import UpdateWriter
from tests.bench import get, put, run

NARROW = Config(dimensions=1, lanes=2, planes=1, element_width=8)
WITHOUT = PRESETS["test"].replace(adam=False)


def payload(name, value):
    """A value as the block takes it."""
    if name == "second_moment":
        return {"mantissa": value & (1 << 26) - 1, "exponent": value >> 26}
    return value


@pytest.mark.parametrize(("config", "adam"), [
    (PRESETS["test"], False), (PRESETS["test"], True), (NARROW, False), (NARROW, True),
    (WITHOUT, False)])
@pytest.mark.parametrize(("keep", "kept"), [(0, 0), (1, 0), (0, 1)])
@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.5, 0.2), (0.1, 0.6)])
def test_rows(config, adam, keep, kept, idle, stall):
    rng = np.random.default_rng(3)
    dut = UpdateWriter(config)
    rows, address, index, core = 9, 100, 8, 1
    count, groups = config.word_width // 32, config.state_words
    shape = (rows * groups, count)
    values = {"master": rng.integers(-2**31, 2**31, shape),
              "momentum": rng.integers(-2**31, 2**31, shape),
              "operand": rng.integers(-(1 << config.element_width - 1),
                                      1 << config.element_width - 1, shape)}
    if config.adam:
        values["second_moment"] = rng.integers(0, 1 << 31, shape)
    # In the order in which they lie in a row, and in which they are written.
    places = ("second_moment", "master", "momentum") if adam else ("master", "momentum")
    turns = ("master", "second_moment", "momentum") if adam else places
    if keep:  # lower and higher parts, before what is left as it is
        turns = "master", "momentum"
        places = *turns, *["left"] * len(places)
    if kept:
        places = "left", "left", *places
    payloads = [{name: [payload(name, int(value)) for value in array[number]]
                 for name, array in values.items()} for number in range(len(values["master"]))]
    done = []

    def pack(numbers, width):
        return sum((int(number) & (1 << width) - 1) << width * place
                   for place, number in enumerate(numbers))

    async def control(ctx):
        for name, value in {"rows": rows, "address": address, "index": index, "core": core,
                            "adam": adam, "keep": keep, "kept": kept, "start": 1}.items():
            ctx.set(getattr(dut, name), value)
        await ctx.tick()
        ctx.set(dut.start, 0)
        while ctx.get(dut.busy):
            await ctx.tick()
        done.append(True)

    async def enter(ctx):
        await ctx.tick()  # there are no groups before ``start``
        await put(ctx, dut.i, payloads, rng, idle)

    async def writes(ctx):
        for number, write in enumerate(await get(
                ctx, dut.write, len(turns) * rows * groups, rng, stall)):
            row, part = divmod(number, len(turns) * groups)
            group, turn = divmod(part, len(turns))
            name = turns[turn]
            assert write.channel == 1
            assert write.address == address + groups * (
                len(places) * row + places.index(name)) + group
            assert write.data == pack(values[name][row * groups + group], 32)

    async def flits(ctx):
        if keep:
            while ctx.get(dut.busy) or not done:
                assert not ctx.get(dut.flits.valid)
                await ctx.tick()
            return
        for row, flit in enumerate(await get(ctx, dut.flits, rows, rng, stall)):
            assert flit.kind == FlitKind.WEIGHT
            assert flit.destinations == (1 << config.cores) - 1
            assert flit.index == index + row * config.cores
            operands = values["operand"].reshape(rows, -1)[row]
            assert flit.payload == pack(operands[:config.lanes], config.element_width)

    run(dut, control, enter, writes, flits)
    assert done
