# SPDX-License-Identifier: BSD-2-Clause
"""GradientSender: what it sends, in which order, and how little the array waits for it."""

import numpy as np
import pytest

from hypercast.rtl.array.gradient_sender import GradientSender
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Kind
from tests.bench import run

#: Cycles from the end of a tile to its first row of sums.
LATENCY = 7
CONFIGS = {
    "as many rows as cores": Config(dimensions=2, lanes=4, planes=4, accumulator_rows=16),
    "more rows": Config(dimensions=1, lanes=8, planes=2, accumulator_rows=16, element_width=8),
    "more cores": Config(dimensions=4, lanes=2, planes=4, accumulator_rows=16),
    "one core": Config(dimensions=0, lanes=2, planes=1, accumulator_rows=16),
}


class Bench:
    """A sender between an array and a network."""

    def __init__(self, config, core, *, stall=0.0, seed=1):
        self.config, self.core = config, core
        self.dut = GradientSender(config)
        self.flits = []    # (cycle, flit)
        self._rng = np.random.default_rng(seed)
        self._stall = stall
        self._moving = {}  # cycle to the row that comes then
        self._began = -config.lanes
        self._held = None
        self._sums = None  # offered as ``column_sums``
        self.now = 0

    async def cycle(self, ctx):
        """Go on for a cycle, taking what is sent."""
        dut = self.dut
        row = self._moving.pop(self.now, None)
        ctx.set(dut.sums_valid, row is not None)
        ctx.set(dut.sums, [0] * self.config.lanes if row is None else row.tolist())
        ready = self._rng.random() >= self._stall
        ctx.set(dut.flits.ready, ready)
        ctx.set(dut.column_sums.valid, self._sums is not None)
        if self._sums is not None:
            ctx.set(dut.column_sums.payload, self._sums)
        _, _, valid, flit, taken = await ctx.tick().sample(
            dut.flits.valid, dut.flits.payload, dut.column_sums.ready)
        if taken:
            self._sums = None
            ctx.set(dut.column_sums.valid, 0)
        assert self._held is None or (valid and flit == self._held), "a flit was withdrawn"
        self._held = flit if valid and not ready else None
        if valid and ready:
            self.flits.append((self.now, flit))
        self.now += 1

    async def first(self, ctx, ended=()):
        """A tile begins as soon as it may; returns cycles blocked. ``ended``: rows of the last."""
        dut, blocked = self.dut, 0
        while not ctx.get(dut.free):
            await self.cycle(ctx)
            blocked += 1
        assert self.now - self._began >= self.config.lanes
        self._began = self.now
        self._moving.update((self.now + LATENCY + number, row) for number, row in enumerate(ended))
        ctx.set(dut.first, 1)
        ctx.set(dut.closes, len(ended) > 0)
        await self.cycle(ctx)
        ctx.set(dut.first, 0)
        ctx.set(dut.closes, 0)
        return blocked

    async def send(self, ctx, tiles, *, first_row, digits, ones=0, words=0, sums=None):
        """End ``tiles``, each after ``words`` cycles at least; returns cycles blocked.

        ``sums``: (reduction row, values) sent besides, there one cycle after the first tile's end.
        """
        dut = self.dut
        assert not ctx.get(dut.busy)
        for port, value in ((dut.core, self.core), (dut.first_row, first_row), (dut.ones, ones),
                            (dut.digits, digits), (dut.start, 1)):
            ctx.set(port, value)
        await self.cycle(ctx)
        ctx.set(dut.start, 0)
        ctx.set(dut.first_row, 0x5A5A5)
        blocked = await self.first(ctx)
        for tile in tiles:
            for _ in range(words):
                await self.cycle(ctx)
            blocked += await self.first(ctx, tile)
            assert ctx.get(dut.busy)
            if sums:
                ctx.set(dut.sums_row, sums[0])
                self._sums, sums = sums[1], None
        while ctx.get(dut.busy):
            await self.cycle(ctx)
        assert self._sums is None and not self._moving
        return blocked

    def tiles(self, count):
        limit = 1 << self.config.accumulator_width - 1
        lanes = self.config.lanes
        return self._rng.integers(-limit, limit, (count, lanes, lanes))

    def expected(self, tiles, *, first_row, digits, ones=0):
        """(core, accumulator row, digit, its elements) of every flit, in order."""
        config, flits = self.config, []
        width, lanes = config.element_width, config.lanes
        for k, tile in enumerate(tiles):
            for n in range(1 if ones else lanes):
                i = 0 if ones else (n ^ self.core) % lanes
                index, owner = divmod(first_row + k * (1 if ones else lanes) + i, config.cores)
                rest = tile[i]
                for number in range(digits):
                    values = (rest + (1 << width - 1)) % (1 << width) - (1 << width - 1)
                    flits.append((owner, index, number, values.tolist()))
                    rest = (rest - values) >> width
        return flits

    def sent(self):
        """The same of the flits sent."""
        width, found = self.config.element_width, []
        for _, flit in self.flits:
            assert flit.kind.value == Kind.REDUCE and flit.source == 0
            relative = flit.destinations.bit_length() - 1
            assert flit.destinations == 1 << relative
            values = [flit.payload >> width * lane & (1 << width) - 1
                      for lane in range(self.config.lanes)]
            half = 1 << width - 1
            found.append((relative ^ self.core, flit.index, flit.digit,
                          [(value ^ half) - half for value in values]))
        return found

    def check(self, *jobs):
        """All of the jobs' flits were sent, in planes that take turns."""
        expected = [flit for tiles, fields in jobs for flit in self.expected(tiles, **fields)]
        assert self.sent() == expected
        planes = self.config.planes
        begin = self.core // self.config.lanes
        assert [flit.plane for _, flit in self.flits] == [
            (begin + number) % planes for number in range(len(self.flits))]


@pytest.mark.parametrize("stall", [0.0, 0.6])
@pytest.mark.parametrize("name", CONFIGS)
def test_jobs_one_after_the_other(name, stall):
    config = CONFIGS[name]
    bench = Bench(config, config.cores * 2 // 3, stall=stall)
    jobs = [(bench.tiles(count), {"first_row": first_row, "digits": digits, "ones": ones})
            for count, first_row, digits, ones in (
                (5, 32, config.digits, 0), (4, 3, 1, 1), (1, 0, 2, 0), (4, 48, 1, 0),
                (3, 17, config.digits, 1))]

    async def program(ctx):
        for words, (tiles, fields) in enumerate(jobs):
            await bench.send(ctx, tiles, words=5 * words, **fields)

    run(bench.dut, program)
    bench.check(*jobs)


@pytest.mark.parametrize("stall", [0.0, 0.6])
@pytest.mark.parametrize("name", CONFIGS)
def test_column_sums_go_first(name, stall):
    """Tiles are sent as without them."""
    config = CONFIGS[name]
    bench = Bench(config, 0, stall=stall, seed=2)

    async def program(ctx):
        for words in (0, 9, 40):
            tiles, sums = bench.tiles(3), bench.tiles(1)[0, 0].tolist()
            await bench.send(ctx, tiles, first_row=0, digits=2, words=words, sums=(1000, sums))
            flits = bench.sent()
            bench.flits.clear()
            alone = [np.array(sums)[None]]
            assert flits == [*bench.expected(alone, first_row=1000, digits=2, ones=1),
                             *bench.expected(tiles, first_row=0, digits=2)]

    run(bench.dut, program)


@pytest.mark.parametrize("digits", [2, 3])
def test_flits_without_gaps(digits):
    """Tiles that come faster than they can be sent are sent one flit per cycle."""
    config = CONFIGS["more rows"]
    bench = Bench(config, 1)
    fields = {"first_row": 8, "digits": digits}
    tiles = bench.tiles(6)

    async def program(ctx):
        await bench.send(ctx, tiles, **fields)

    run(bench.dut, program)
    bench.check((tiles, fields))
    cycles = [cycle for cycle, _ in bench.flits]
    assert cycles == list(range(cycles[0], cycles[0] + len(cycles)))


@pytest.mark.parametrize("name,tiles", [("as many rows as cores", 4), ("more rows", 4)])
def test_tiles_wait_and_the_array_goes_on(name, tiles):
    """With a network that takes nothing, some tiles are kept and only one more would wait."""
    bench = Bench(CONFIGS[name], 1, stall=1.0)

    async def program(ctx):
        dut = bench.dut
        ctx.set(dut.digits, 1)
        for tile in bench.tiles(tiles):
            assert await bench.first(ctx, tile) < bench.config.lanes
        for _ in range(100):
            await bench.cycle(ctx)
        assert not ctx.get(dut.free) and not bench.flits

    run(bench.dut, program)


def test_cores_send_to_owners_in_the_same_relative_place():
    """At any time no two cores send to the same owner."""
    config = CONFIGS["as many rows as cores"]
    owners = []
    for core in range(config.cores):
        bench = Bench(config, core, seed=core)

        async def program(ctx, bench=bench):
            await bench.send(ctx, bench.tiles(3), first_row=config.cores, digits=2)

        run(bench.dut, program)
        owners.append([(cycle, owner) for (cycle, _), (owner, *_) in
                       zip(bench.flits, bench.sent(), strict=True)])
    for moment in zip(*owners, strict=True):
        assert len({cycle for cycle, _ in moment}) == 1
        assert len({owner for _, owner in moment}) == config.cores
