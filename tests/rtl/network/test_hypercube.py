# SPDX-License-Identifier: BSD-2-Clause
"""The network as a whole: random multicast traffic, full rate, and what a stalled core holds up."""

import random
from collections import defaultdict, deque

import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.network import routing
from hypercast.rtl.network.hypercube import Hypercube
from tests.bench import get, put, run


class RandomTraffic:
    """Random flits by sender, and for each receiver the queues it must see."""

    def __init__(self, config, count, rng, most=None):
        self.config = config
        self.flits = [[] for _ in range(config.cores)]
        #: Flits core ``c`` must get by (c, source, plane), in order.
        self.expected = defaultdict(deque)
        self.links = defaultdict(int)
        for source, flits in enumerate(self.flits):
            for number in range(count):
                cores = rng.sample(range(config.cores),
                                          rng.randint(1, most or config.cores))
                self._add(flits, source, number, cores, rng)

    def _add(self, flits, source, number, cores, rng):
        plane = rng.randrange(self.config.planes)
        one = {"destinations": sum(1 << (core ^ source) for core in cores), "plane": plane,
               "kind": rng.randrange(3), "digit": rng.randrange(8),
               "index": rng.getrandbits(self.config.index_width),
               "payload": number << 8 | rng.getrandbits(8)}
        layout = flit(self.config)
        flits.append(layout.const(one))
        for core in cores:
            self.expected[core, source, plane].append(
                layout.const({**one, "destinations": 1, "source": core ^ source}))
        for link in routing.tree(one["destinations"], plane, self.config.dimensions, source):
            self.links[link] += 1

    def due(self, core, port):
        return sum(len(queue) for (receiver, _, plane), queue in self.expected.items()
                   if receiver == core and plane % self.config.eject == port)

    def arrive(self, core, port, got):
        assert got.plane % self.config.eject == port
        queue = self.expected[core, core ^ got.source, got.plane]
        assert queue, f"core {core} got a flit nobody sent it: {got!r}"
        assert got == queue.popleft()


def exchange(config, traffic, rng, idle, stall, cycles):
    """Run ``traffic`` through the network and compare all that arrives."""
    dut = Hypercube(config)
    counted = defaultdict(int)

    def sender(core):
        return lambda ctx: put(ctx, dut.inject[core], traffic.flits[core], rng, idle)

    def receiver(core, port):
        async def bench(ctx):
            for got in await get(
                    ctx, dut.eject[core][port], traffic.due(core, port), rng, stall):
                traffic.arrive(core, port, got)
        return bench

    async def count(ctx):
        while True:
            _, _, *sent = await ctx.tick().sample(*dut.sent)
            for core, bits in enumerate(sent):
                for dimension in range(config.dimensions):
                    counted[core, dimension] += bits >> dimension & 1

    ports = [(core, port) for core in range(config.cores) for port in range(config.eject)]
    run(dut, *map(sender, range(config.cores)), *(receiver(*port) for port in ports),
        background=[count] if config.dimensions else [], cycles=cycles)
    assert not any(traffic.expected.values())
    assert {link: count for link, count in counted.items() if count} == traffic.links


@pytest.mark.parametrize(("dimensions", "planes", "eject", "depth"), [
    (0, 1, 1, 2), (0, 4, 4, 2), (1, 1, 1, 3), (1, 4, 2, 2), (2, 1, 1, 2), (2, 2, 2, 4),
    (3, 1, 1, 4), *(pytest.param(*sizes, marks=pytest.mark.slow) for sizes in (
        (3, 2, 1, 2), (3, 4, 4, 5), (4, 1, 1, 2), (4, 4, 2, 4)))])
def test_every_destination_gets_every_flit_once_and_in_order(dimensions, planes, eject, depth):
    config = Config(dimensions=dimensions, planes=planes, eject=eject, buffer_depth=depth,
                    lanes=2, element_width=8)
    rng = random.Random(dimensions * 100 + planes)
    traffic = RandomTraffic(config, {3: 30, 4: 12}.get(dimensions, 60), rng)
    exchange(config, traffic, rng, idle=0.2, stall=0.2, cycles=4_000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(8), *(
    pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 24))])
def test_random_networks(seed):
    rng = random.Random(seed)
    planes = rng.choice([1, 2, 4])
    config = Config(dimensions=rng.randint(1, 4), planes=planes, lanes=2, element_width=8,
                    eject=rng.choice([ports for ports in (1, 2, 4) if ports <= planes]),
                    buffer_depth=rng.randint(2, 6))
    traffic = RandomTraffic(config, 30, rng, most=rng.randint(1, config.cores))
    exchange(config, traffic, rng, idle=rng.random() * 0.8, stall=rng.random() * 0.8,
             cycles=40_000)


def test_flits_are_the_same_whatever_the_word():
    config = Config(dimensions=1, lanes=16, planes=2)
    rng = random.Random(3)
    exchange(config, RandomTraffic(config, 30, rng), rng, idle=0.0, stall=0.0, cycles=1_000)


@pytest.mark.parametrize(("depth", "cycles"), [(2, 2), (3, 4 / 3), (4, 1)])
def test_rate_of_a_link_in_one_plane(depth, cycles):
    """A credit is back after 4 cycles: from depth 4 on one plane fills the link, over any hops."""
    config = Config(dimensions=3, planes=1, lanes=2, buffer_depth=depth)
    dut = Hypercube(config)
    count = 60
    arrived = []

    async def send(ctx):
        await put(ctx, dut.inject[0], [
            {"destinations": 1 << 7, "payload": number} for number in range(count)])

    async def receive(ctx):
        ctx.set(dut.eject[7][0].ready, 1)
        cycle = 0
        while len(arrived) < count:
            _, _, valid = await ctx.tick().sample(dut.eject[7][0].valid)
            if valid:
                arrived.append(cycle)
            cycle += 1

    run(dut, send, receive, cycles=1_000)
    assert arrived[-1] - arrived[0] == pytest.approx((count - 1) * cycles, abs=1)


def test_latency_is_three_cycles_and_three_per_hop():
    config = Config(dimensions=3, planes=1, lanes=2)
    dut = Hypercube(config)

    async def bench(ctx):
        for hops in range(4):
            destination = (1 << hops) - 1
            arrived = dut.eject[destination][0]
            ctx.set(arrived.ready, 1)
            ctx.set(dut.inject[0].payload, {"destinations": 1 << destination})
            ctx.set(dut.inject[0].valid, 1)
            await ctx.tick()
            ctx.set(dut.inject[0].valid, 0)
            for _ in range(2 + 3 * hops):
                assert not ctx.get(arrived.valid)
                await ctx.tick()
            assert ctx.get(arrived.valid)
            await ctx.tick()

    run(dut, bench, cycles=200)


@pytest.mark.parametrize("eject", [1, 2])
def test_a_core_that_stops_accepting_does_not_hold_up_other_planes(eject):
    """Plane 0 is jammed for ever on its way to core 0; plane 1 serves all other cores.

    Core 0 also gets plane 1 if that has an ejection port of its own.
    """
    config = Config(dimensions=3, planes=2, eject=eject, lanes=2, buffer_depth=2)
    dut = Hypercube(config)
    jammers = (5, 6, 7)
    targets = range(0 if eject == 2 else 1, 8)
    senders = range(5)

    def jam(core):
        return lambda ctx: put(
            ctx, dut.inject[core], [{"destinations": 1 << core, "plane": 0}] * 50)

    def send(core):
        async def bench(ctx):
            await ctx.tick().repeat(50)
            assert not ctx.get(dut.inject[jammers[0]].ready), "plane 0 is not jammed yet"
            await put(ctx, dut.inject[core], [
                {"destinations": sum(1 << (target ^ core) for target in targets), "plane": 1}] * 20)
        return bench

    def receive(core):
        return lambda ctx: get(ctx, dut.eject[core][eject - 1], 20 * len(senders))

    run(dut, *map(send, senders), *map(receive, targets), background=map(jam, jammers),
        cycles=2_000)


@pytest.mark.parametrize(("planes", "eject", "fraction"), [
    (1, 1, 0.7), *(
        pytest.param(4, eject, 0.8, marks=pytest.mark.slow) for eject in (1, 4))])
def test_unicast_comes_close_to_the_bound(planes, eject, fraction):
    """The bound is the busiest injection port, ejection port or link."""
    config = Config(dimensions=3, planes=planes, eject=eject, lanes=2, element_width=8)
    rng = random.Random(11)
    traffic = RandomTraffic(config, 120, rng, most=1)
    bound = max(120, *traffic.links.values(),
                *(traffic.due(core, port) for core in range(8) for port in range(eject)))
    exchange(config, traffic, rng, idle=0.0, stall=0.0, cycles=int(bound / fraction))
