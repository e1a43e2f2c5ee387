# SPDX-License-Identifier: BSD-2-Clause
"""BulkWriter: where words go, those without strobes stay, what is refused is so to the end."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.bulk_writer import BulkWriter
from hypercast.rtl.registers import Space, bulk_address, striped_address
from tests.bench import run, shared
from tests.rtl.control.bulk_manager import BulkManager

_OKAY, _SLVERR = 0, 2


def _run(preset, bursts, *, delay=0.3):
    """The requests (address, data) of bursts (address, bytes, strobes), and their responses."""
    requests, responses = _run_on(PRESETS[preset], bursts, delay=delay)
    return [(address, value) for _, _, address, value in requests], responses


def _run_on(config, bursts, *, delay, refuse=0):
    """The requests (core, space, address, data) likewise, of a configuration."""
    dut = shared(BulkWriter, config)
    rng = np.random.default_rng(0)
    manager = BulkManager(dut.axi, None, rng, delay)
    requests, responses = [], []

    async def take(ctx):
        request, unsettled = dut.request, 0
        while True:
            ready = rng.random() >= delay
            ctx.set(request.ready, ready)
            ctx.set(dut.settled, unsettled == 0)
            _, _, valid, payload = await ctx.tick().sample(request.valid, request.payload)
            unsettled = max(0, unsettled - 1)
            if valid and ready:
                assert payload.write and payload.bulk
                requests.append((payload.core, payload.space, payload.address, payload.data))
                unsettled = 5

    async def program(ctx):
        ctx.set(dut.refuse, refuse)
        for burst in bursts:
            manager.start_write(*burst)
        for _ in bursts:
            responses.append(await manager.finish_write(ctx))

    run(dut, program, background=[*manager.drivers, take])
    return requests, responses


@pytest.mark.parametrize("delay", [0.0, 0.4])
def test_words_without_strobes_stay(delay):
    beat = bytes(range(16))
    words = [int.from_bytes(beat[first:first + 4], "little") for first in range(0, 16, 4)]
    requests, responses = _run("tiny", [
        (bulk_address(1, Space.FEATURES, 32), beat * 2, [0xFF00, 0x000F])], delay=delay)
    assert responses == [_OKAY]
    assert requests == [(10, words[2]), (11, words[3]), (12, words[0])]


def test_parts_of_words_are_refused_from_there_on():
    beat = bytes(range(16))
    requests, responses = _run("tiny", [
        (bulk_address(0, Space.FEATURES, 0), beat * 3, [0xFFFF, 0xF0FE, 0xFFFF]),
        (bulk_address(0, Space.FEATURES, 64), beat)])
    assert responses == [_SLVERR, _OKAY]
    assert [address for address, _ in requests] == [0, 1, 2, 3, 16, 17, 18, 19]
    requests, responses = _run("cora", [
        (bulk_address(0, Space.FEATURES, 0), beat * 2, [0, 0xFFFF])])
    assert (requests, responses) == ([], [_SLVERR])


def test_a_words_parts_follow_each_other():
    beat = bytes(range(16))
    place = bulk_address(2, Space.GRADIENTS, 64)
    requests, responses = _run("cora", [
        (place, beat), (place + 16, beat * 2), (place + 80, beat), (place + 48, beat),
        (place, beat), (bulk_address(3, Space.GRADIENTS, 80), beat)])
    assert responses == [_OKAY, _OKAY, _SLVERR, _SLVERR, _OKAY, _SLVERR]
    assert [address for address, _ in requests] == [16, 20, 24, 16]


def test_what_is_not_there():
    beat = bytes(16)
    requests, responses = _run("tiny", [
        (bulk_address(2, Space.FEATURES, 0), beat), (bulk_address(0, Space.CORE, 0), beat * 256),
        (bulk_address(0, Space.FEATURES, 0), beat)])
    assert (len(requests), responses) == (4, [_SLVERR, _SLVERR, _OKAY])


@pytest.mark.parametrize("delay", [0.0, 0.4])
@pytest.mark.parametrize("dimensions", [0, 1, 4])
@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_striped_words_go_to_the_cores_in_turn(lanes, dimensions, delay):
    """Bursts anywhere in the channels of all cores, cut in the middle of words and of rows."""
    config = PRESETS["cora"].replace(lanes=lanes, dimensions=dimensions, channel_words=64)
    rng = np.random.default_rng([lanes, dimensions])
    size = config.word_width // 8
    step, total = max(16, size), config.cores * config.channel_words * size
    bursts, expected = [], []
    for _ in range(4):
        space = Space.GRADIENTS if rng.random() < 0.5 else Space.FEATURES
        first = int(rng.integers(total // step)) * step
        values = rng.bytes(min(int(rng.integers(1, 40)) * step, total - first))
        cut = 16 * int(rng.integers(len(values) // 16))
        bursts += [(striped_address(space, first + begin), values[begin:end])
                   for begin, end in ((0, cut), (cut, len(values))) if begin < end]
        piece = min(16, size)
        for offset in range(0, len(values), piece):
            row, core = divmod((first + offset) // size, config.cores)
            expected.append((core, space, (row * size + (first + offset) % size) // 4,
                             int.from_bytes(values[offset:offset + piece], "little")))
    requests, responses = _run_on(config, bursts, delay=delay)
    assert responses == [_OKAY] * len(bursts)
    assert requests == expected


def test_striped_bursts_skip_words_and_keep_their_order():
    """As others do: words without strobes stay, and a word is written in order and in whole."""
    beat = bytes(range(16))
    words = [int.from_bytes(beat[first:first + 4], "little") for first in range(0, 16, 4)]
    tiny, cora = PRESETS["tiny"], PRESETS["cora"]
    requests, responses = _run_on(tiny, [
        (striped_address(Space.GRADIENTS, 32), beat * 2, [0xFFF0, 0x000F]),
        (striped_address(Space.FEATURES, 64), beat * 2, [0xF00E, 0xFFFF])], delay=0.3)
    assert responses == [_OKAY, _SLVERR]
    assert requests == [(core, Space.GRADIENTS, row, words[word]) for core, row, word in (
        (1, 4, 1), (0, 5, 2), (1, 5, 3), (0, 6, 0))]
    place = striped_address(Space.FEATURES, 16 * 32)  # row 1 of core 0; words of two beats
    requests, responses = _run_on(cora, [
        (place, beat), (place + 16, beat * 2), (place + 80, beat), (place, beat),
        (bulk_address(0, Space.FEATURES, 48), beat), (place + 16, beat)], delay=0.3)
    assert responses == [_OKAY, _OKAY, _SLVERR, _OKAY, _SLVERR, _SLVERR]
    assert [(core, address) for core, _, address, _ in requests] == [
        (0, 8), (0, 12), (1, 8), (0, 8)]


@pytest.mark.parametrize("preset", ["tiny", "cora"])
def test_striped_bursts_beyond_the_last_core(preset):
    config, beat = PRESETS[preset], bytes(16)
    end = config.cores * config.channel_words * config.word_width // 8
    for space in (Space.FEATURES, Space.GRADIENTS):
        requests, responses = _run_on(config, [
            (striped_address(space, end), beat), (striped_address(space, end - 32), beat * 3),
            (striped_address(space, end - 32), beat * 2)], delay=0.3)
        assert responses == [_SLVERR, _SLVERR, _OKAY]
        assert {core for core, *_ in requests} <= set(range(config.cores))
        assert requests[-1][0] == config.cores - 1


@pytest.mark.parametrize("refuse", [0, 1])
def test_weights_alone_are_refused_while_a_program_runs(refuse):
    spaces = (Space.WEIGHTS, Space.FEATURES, Space.GRADIENTS)
    bursts = [*((bulk_address(1, space, 16), bytes(range(16))) for space in spaces),
              *((striped_address(space, 64), bytes(range(16))) for space in spaces[1:])]
    requests, responses = _run_on(PRESETS["tiny"], bursts, delay=0.3, refuse=refuse)
    assert responses == [_SLVERR if refuse else _OKAY, *[_OKAY] * 4]
    assert {space for _, space, _, _ in requests} == {*spaces[refuse:]}
