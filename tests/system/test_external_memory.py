# SPDX-License-Identifier: BSD-2-Clause
"""A chip whose memory is outside: each channel at its port, and errors reported."""

import numpy as np
import pytest

from hypercast.rtl.chip import Chip
from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.axi_lite import Response as AxiResponse
from hypercast.rtl.control.window import TIMEOUT
from hypercast.rtl.memory.axi4 import Response
from hypercast.rtl.registers import (
    COUNTERS,
    Control,
    CoreSpace,
    Error,
    Space,
    Status,
    register,
)
from tests.bench import run
from tests.rtl.control.axi_manager import AxiManager
from tests.rtl.memory.axi_memory import AxiMemory

CONFIG = PRESETS["tiny"]
CHANNELS = (Space.FEATURES, Space.GRADIENTS)
FAULTS = ("features_faults", "gradients_faults", "weights_faults", "buffer_faults")
BROKEN = 77  # address of a word that no memory answers for


@pytest.fixture(scope="module")
def chip():
    """A chip after every channel was written and read, its memories, and what was read."""
    rng = np.random.default_rng(1)
    chip = Chip(CONFIG, external=True)
    host = AxiManager(chip.axi, rng, 0.0)
    memories = [AxiMemory(
        read=axi.read, write=axi.write, base=0, words=CONFIG.channel_words, rng=rng,
        latency=20, stall=0.2,
        respond=lambda address: Response.SLVERR if address == BROKEN else Response.OKAY)
        for axi in chip.memory]
    found, errors, counts = {}, [], {}

    async def select(ctx, core, space, address):
        for name, value in (("core", core), ("space", space), ("address", address)):
            await host.write(ctx, register(name), int(value))

    async def bench(ctx):
        for core in range(CONFIG.cores):
            for index, space in enumerate(CHANNELS):
                await select(ctx, core, space, 40)
                for value in range(3):
                    await host.write(ctx, register("data"), 1000 * (2 * core + index) + value)
        for core in range(CONFIG.cores):
            for space in CHANNELS:
                await select(ctx, core, space, 40)
                found[core, space] = [(await host.read(ctx, register("data")))[1]
                                      for _ in range(3)]
        errors.append((await host.read(ctx, register("error")))[1])
        await select(ctx, CONFIG.cores - 1, Space.GRADIENTS, BROKEN)
        await host.read(ctx, register("data"))
        errors.append((await host.read(ctx, register("error")))[1])
        for core in range(CONFIG.cores):
            for name in FAULTS:
                index = list(COUNTERS).index(name)
                await select(ctx, core, Space.CORE, CoreSpace.COUNTERS + index)
                counts[core, name] = (await host.read(ctx, register("data")))[1]

    run(chip, bench, background=[*host.drivers, *(
        driver for memory in memories for driver in memory.drivers)], cycles=20_000)
    return memories, found, errors, counts


def test_every_channel_is_at_its_port(chip):
    memories, found, *_ = chip
    assert len(memories) == 2 * CONFIG.cores
    for port, memory in enumerate(memories):
        assert list(memory.contents[40:43]) == [1000 * port + value for value in range(3)]
        assert found[port // 2, CHANNELS[port % 2]] == list(memory.contents[40:43])


def test_an_error_is_named(chip):
    """In the register, and of which core and channel by its counter."""
    assert chip[2] == [0, Error.MEMORY]
    assert {key for key, count in chip[3].items() if count} == {
        (CONFIG.cores - 1, "gradients_faults")}


def test_a_reset_waits_for_the_memory():
    """A read that the window gave up is answered to the core that asked, and not to the next."""
    chip = Chip(CONFIG, external=True)
    rng = np.random.default_rng(2)
    host = AxiManager(chip.axi, rng, 0.0)
    memories = [AxiMemory(read=axi.read, write=axi.write, base=0, words=CONFIG.channel_words,
                          rng=rng, latency=TIMEOUT + 500) for axi in chip.memory]
    memories[0].contents[:2] = 1111, 2222
    looks = []

    async def bench(ctx):
        for name, value in (("step", 5), ("repeat", 3), ("space", Space.FEATURES)):
            await host.write(ctx, register(name), int(value))
        assert await host.read(ctx, register("data")) == (AxiResponse.SLVERR, 0)
        assert await host.read_register(ctx, "error") == Error.WINDOW
        await host.write_register(ctx, "control", Control.RESET)
        while await host.read_register(ctx, "status") & Status.RESETTING:
            looks.append(await host.read(ctx, register("data")))
        memories[0]._latency = 20
        found = [await host.read_register(ctx, name) for name in ("error", "step", "repeat")]
        assert found == [0, 0, 3]
        await host.write_register(ctx, "address", 1)
        assert await host.read_register(ctx, "data") == 2222

    run(chip, bench, background=[*host.drivers, *(
        driver for memory in memories for driver in memory.drivers)], cycles=20_000)
    assert looks and all(response == AxiResponse.SLVERR for response, _ in looks)
    assert memories[0].reads == [(0, 1), (1, 1)]
