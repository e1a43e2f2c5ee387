# SPDX-License-Identifier: BSD-2-Clause
"""One block alone on an ECP5: registers around it, and a clock that can be foreseen.

Routing without progress is noticed by nextpnr's log, and slow progress is not taken for it.
"""

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.boards.serial_project import tools
from hypercast.host.eda import place_and_route
from hypercast.host.eda.place_and_route import (
    ClockTiming,
    _Enclosed,
    block_clock,
    core_clock,
    no_progress,
)
from hypercast.rtl.config import PRESETS
from tests.bench import run


class _Sum(wiring.Component):
    """Adds, with an array and a structure at its ports."""

    def __init__(self, width):
        terms = wiring.Signature({"a": Out(width), "b": Out(width)})
        super().__init__({"i": In(terms).array(2), "o": Out(width)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(sum(getattr(terms, name) for terms in self.i for name in "ab"))
        return m


def test_registers_on_both_sides():
    dut = _Enclosed(_Sum(8))

    async def bench(ctx):
        expected = [0, 0]
        for cycle in range(9):
            for index, terms in enumerate(dut.i):
                ctx.set(terms.a, cycle + index)
                ctx.set(terms.b, 3 * cycle)
            expected.append(8 * cycle + 1)
            assert ctx.get(dut.o) == expected[cycle]
            await ctx.tick()

    run(dut, bench)


def test_a_wide_sum_is_slower():
    try:
        tools()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    narrow, wide = (block_clock(_Sum(width), asked=300) for width in (4, 32))
    assert wide.reached < narrow.reached
    assert wide.asked == 300 and wide.cells > narrow.cells
    assert 0 < wide.wires < 1
    assert wide.begin and wide.end


def test_the_slower_of_core_and_control_unit(monkeypatch):
    def clock(block, asked):
        return ClockTiming(asked=asked, reached=60 if type(block).__name__ == "Core" else 80,
                           begin="a", end="b", cells=1, wires=0.5)

    monkeypatch.setattr(place_and_route, "block_clock", clock)
    assert core_clock(PRESETS["tiny"], asked=70).reached == 60


def log(counts):
    return "Info: Routing..\n" + "".join(
        f"Info:     iter={number} wires=1244047 overused={count} overuse={count + 5} archfail=NA\n"
        for number, count in enumerate(counts, start=1))


@pytest.mark.parametrize("counts", [
    [], [59325], [7] * 60, list(range(900, 0, -1)), [9, *[12] * 59, 8, *[12] * 59],
])
def test_progress(counts):
    assert no_progress(log(counts)) == ""


@pytest.mark.parametrize("counts, reason", [
    ([7] * 61, "after 61 rounds of routing, 7 wires or more are used twice since round 1"),
    ([900, 5, 3, *range(4, 64)],
     "after 63 rounds of routing, 3 wires or more are used twice since round 3"),
])
def test_no_progress(counts, reason):
    assert no_progress(log(counts)) == reason
