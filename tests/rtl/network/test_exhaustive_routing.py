# SPDX-License-Identifier: BSD-2-Clause
"""Every multicast of sixteen cores in every plane, on the model; random ones on the RTL.

The model walks absolute addresses, all sets of destinations at once, and knows of the routing only
what ``split`` says at each core.
"""

import random

import numpy as np
import pytest
from amaranth.hdl import Cat

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.network import routing
from hypercast.rtl.network.hypercube import Hypercube
from tests.bench import run

DIMENSIONS = 4
CORES = 1 << DIMENSIONS

#: All sets of destinations but the empty one; bit ``c`` is the core at address ``c``.
DESTINATIONS = np.arange(1, 1 << CORES, dtype=np.int32)


def relative(absolute, source):
    """What ``source`` writes in its flits: bit ``k`` is the core at ``source XOR k``."""
    destinations = np.zeros_like(absolute)
    for core in range(CORES):
        destinations |= (absolute >> core & 1) << (core ^ source)
    return destinations


def walk(source, plane):
    """Send a flit to each of ``DESTINATIONS``.

    Returns
    -------
    delivered : array of (cores, sets)
        How often each core got each flit.
    crossed : array of (cores, dimensions, sets)
        How often each flit went along each link, named by its sending core.
    hops : array of (cores, sets)
        How many hops it took to where it was delivered.
    """
    count = len(DESTINATIONS)
    delivered, hops = np.zeros((2, CORES, count), dtype=np.int8)
    crossed = np.zeros((CORES, DIMENSIONS, count), dtype=np.int8)
    flits = [(source, None, 0, relative(DESTINATIONS, source))]
    for core, arrival, distance, destinations in flits:
        local, branches = routing.split(destinations, plane, arrival, DIMENSIONS)
        delivered[core] += local.astype(np.int8)
        hops[core] = np.where(local, distance, hops[core])
        for dimension, branch in branches.items():
            crossed[core, dimension] += branch != 0
            flits.append((core ^ 1 << dimension, dimension, distance + 1, branch))
    return delivered, crossed, hops


@pytest.mark.parametrize("plane", range(4))
@pytest.mark.parametrize("source", range(CORES))
def test_every_multicast(source, plane):
    """Each destination once, by a shortest path; no link twice; no more links than unicasts use."""
    delivered, crossed, hops = walk(source, plane)
    wanted = DESTINATIONS >> np.arange(CORES)[:, None] & 1
    distances = np.array([(core ^ source).bit_count() for core in range(CORES)])
    assert np.array_equal(delivered, wanted)
    assert np.array_equal(hops, distances[:, None] * wanted)
    assert hops.max() == DIMENSIONS
    assert crossed.max() == 1
    edges = crossed.sum(axis=(0, 1), dtype=int)
    assert np.all(edges <= distances @ wanted)
    # A tree reaches, besides its source, one core per link; all destinations are among them.
    reached = sum(crossed[core ^ 1 << dimension, dimension].astype(int)
                  for core in range(CORES) for dimension in range(DIMENSIONS))
    assert np.array_equal(edges, reached)
    assert np.all(edges >= wanted.sum(axis=0) - wanted[source])


def test_the_tree_is_what_the_model_walks():
    rng = np.random.default_rng(7)
    for plane in range(4):
        source = int(rng.integers(CORES))
        _, crossed, _ = walk(source, plane)
        for index in rng.integers(len(DESTINATIONS), size=100):
            destinations = int(relative(DESTINATIONS[index:index + 1], source)[0])
            links = sorted(routing.tree(destinations, plane, DIMENSIONS, source))
            assert links == [tuple(map(int, link)) for link in np.argwhere(crossed[:, :, index])]


def bits(value):
    """Positions of the ones in ``value``."""
    return [position for position in range(value.bit_length()) if value >> position & 1]


@pytest.mark.parametrize(("planes", "flits"), [
    (2, 5), pytest.param(4, 200, marks=pytest.mark.slow)])
def test_the_rtl_does_what_the_model_says(planes, flits):
    """Random flits, one at a time: the links used and the cores reached are the model's tree."""
    config = Config(dimensions=DIMENSIONS, planes=planes, lanes=2, element_width=8)
    dut = Hypercube(config)
    rng = random.Random(16)
    layout = flit(config)
    # A flit is everywhere after three cycles and three per hop; its copies never wait.
    cycles = 3 + 3 * DIMENSIONS
    ports = [dut.eject[core][port] for core in range(CORES) for port in range(config.eject)]
    valid, links = Cat(port.valid for port in ports), Cat(dut.sent)

    async def bench(ctx):
        for port in ports:
            ctx.set(port.ready, 1)
        for number in range(flits):
            source, plane = rng.randrange(CORES), rng.randrange(config.planes)
            destinations = rng.randrange(1, 1 << CORES)
            one = {"destinations": destinations, "plane": plane, "payload": number}
            ctx.set(dut.inject[source].payload, one)
            ctx.set(dut.inject[source].valid, 1)
            sent, got = [], {}
            for _ in range(cycles):
                await ctx.tick()
                ctx.set(dut.inject[source].valid, 0)
                sent += [divmod(link, DIMENSIONS) for link in bits(ctx.get(links))]
                for index in bits(ctx.get(valid)):
                    core = index // config.eject
                    assert core not in got, "delivered twice"
                    got[core] = ctx.get(ports[index].payload)
            assert sorted(sent) == sorted(routing.tree(destinations, plane, DIMENSIONS, source))
            assert got == {source ^ offset: layout.const(
                               {**one, "destinations": 1, "source": offset})
                           for offset in bits(destinations)}

    run(dut, bench, cycles=flits * cycles + 1)
