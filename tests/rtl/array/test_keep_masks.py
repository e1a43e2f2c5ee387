# SPDX-License-Identifier: BSD-2-Clause
"""KeepMasks against ``arithmetic.keep_mask``, place by place."""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.array.keep_masks import KeepMasks
from hypercast.rtl.config import PRESETS
from hypercast.rtl.lib.dropout import Dropout
from hypercast.rtl.placement import rank_of
from tests.bench import get, put, run, shared

CONFIGS = {"single": PRESETS["tiny"].replace(dimensions=0), "tiny": PRESETS["tiny"],
           "test": PRESETS["test"].replace(dimensions=4, lanes=8)}


class Bench:
    """Masks of random places under a random key."""

    def __init__(self, name="tiny", seed=0):
        self.config = CONFIGS[name]
        self.rng = np.random.default_rng(seed)
        self.masks = shared(KeepMasks, self.config)

    def places(self, count):
        """The largest and random ones."""
        return [{"row": (1 << 20) - 1, "panel": (1 << 14) - 1},
                *({"row": int(self.rng.integers(1 << 20)), "panel": int(self.rng.integers(1 << 14))}
                  for _ in range(count - 1))]

    async def begin(self, ctx, dropout=1, ranked=0):
        """Start a job; returns a function from places, and ranks if it has them, to masks."""
        core = int(self.rng.integers(self.config.cores))
        key, threshold = (int(self.rng.integers(1 << bits)) for bits in (32, 16))
        ctx.set(self.masks.core, core)
        ctx.set(self.masks.job, {"dropout": dropout, "key": key, "threshold": threshold,
                                 "ranked": ranked})
        ctx.set(self.masks.start, 1)
        await ctx.tick()
        ctx.set(self.masks.start, 0)
        lanes = self.config.lanes

        def mask(place, rank=None):
            ranks = [rank_of(core, place["row"], self.config.cores) if rank is None else rank]
            keep = arithmetic.keep_mask(
                key, threshold, ranks, place["panel"] * lanes + np.arange(lanes))
            return sum(int(bit) << lane for lane, bit in enumerate(keep))

        return mask


    async def exchange(self, ctx, places, taken, idle=0.0, stall=0.0):
        """Offer places until some masks have come; returns them, and how many cycles it took."""
        i, o = self.masks.i, self.masks.o
        found, cycles, offered, held = [], 0, False, None
        places = iter(places)
        while len(found) < taken:
            if not offered and self.rng.random() >= idle and (place := next(places, None)):
                ctx.set(i.p, place)
                offered = True
            ctx.set(i.valid, offered)
            takes = self.rng.random() >= stall
            ctx.set(o.ready, takes)
            _, _, accepted, valid, mask = await ctx.tick().sample(i.ready, o.valid, o.payload)
            if offered and accepted:
                offered = False
                ctx.set(i.p, {"row": 0x55555, "panel": 0x1555})
            assert held is None or (valid and mask == held)
            held = mask if valid and not takes else None
            if valid and takes:
                found.append(mask)
            cycles += 1
        ctx.set(i.valid, 0)
        ctx.set(o.ready, 0)
        return found, cycles


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("idle,stall", [(0.0, 0.0), (0.5, 0.1), (0.1, 0.5)])
def test_masks(name, idle, stall):
    """Job after job; the rest of one is forgotten when the next starts."""
    bench = Bench(name)

    async def program(ctx):
        for count, taken in ((30, 30), (20, 1), (20, 5), (25, 25), (3, 3)):
            mask = await bench.begin(ctx)
            places = bench.places(count)
            found, cycles = await bench.exchange(ctx, places, taken, idle, stall)
            assert found == [mask(place) for place in places[:taken]]
            assert idle or stall or cycles == taken + Dropout.LATENCY
            if taken == count:
                ctx.set(bench.masks.o.ready, 1)
                for _ in range(Dropout.LATENCY + 3):
                    _, _, valid = await ctx.tick().sample(bench.masks.o.valid)
                    assert not valid

    run(bench.masks, program, cycles=5000)


@pytest.mark.parametrize("idle,late,stall", [(0.0, 0.0, 0.0), (0.5, 0.2, 0.1), (0.1, 0.6, 0.3)])
def test_ranks_that_are_given(idle, late, stall):
    """One for each place, whichever comes later; none is taken without dropout, or unasked."""
    bench = Bench("test")
    taken = []
    ranks = [int(rank) for rank in bench.rng.integers(1 << 32, size=90)]

    async def program(ctx):
        for dropout, ranked, count in ((1, 1, 30), (1, 0, 20), (0, 1, 20), (1, 1, 40)):
            mask = await bench.begin(ctx, dropout, ranked)
            places, before = bench.places(count), len(taken)
            found, _ = await bench.exchange(ctx, places, count, idle, stall)
            if dropout and ranked:
                assert found == [mask(*pair) for pair in
                                 zip(places, ranks[before:before + count], strict=True)]
            elif dropout:
                assert found == [mask(place) for place in places]
            assert len(taken) == before + count * (dropout and ranked)

    async def give(ctx):
        await put(ctx, bench.masks.ranks, ranks, np.random.default_rng(1), late)

    async def watch(ctx):
        stream = bench.masks.ranks
        while True:
            _, _, valid, ready = await ctx.tick().sample(stream.valid, stream.ready)
            if valid and ready:
                taken.append(True)

    run(bench.masks, program, background=[give, watch], cycles=5000)


def test_without_dropout_all_are_kept():
    """At once, however many are asked for; a job with dropout may follow in the next cycle."""
    bench = Bench()
    masks = bench.masks
    everything = (1 << bench.config.lanes) - 1

    async def program(ctx):
        for _ in range(3):
            await bench.begin(ctx, dropout=0)
            assert ctx.get(masks.i.ready)
            found, cycles = await bench.exchange(ctx, bench.places(4), 20, idle=0.5)
            assert found == [everything] * 20 and cycles == 20
            mask = await bench.begin(ctx)
            places = bench.places(15)
            assert (await bench.exchange(ctx, places, 12))[0] == [
                mask(place) for place in places[:12]]

    run(masks, program)


def test_as_many_wait_as_there_are_stages():
    bench = Bench()
    masks = bench.masks

    async def program(ctx):
        mask = await bench.begin(ctx)
        [place] = bench.places(1)
        ctx.set(masks.i.p, place)
        ctx.set(masks.i.valid, 1)
        ctx.set(masks.o.ready, 0)
        accepted = [(await ctx.tick().sample(masks.i.ready))[2] for _ in range(30)]
        assert sum(accepted) == Dropout.LATENCY
        ctx.set(masks.i.valid, 0)
        assert await get(ctx, masks.o, Dropout.LATENCY) == [mask(place)] * Dropout.LATENCY

    run(masks, program)
