"""BulkWriter: words without strobes stay, and what is refused is refused to the end."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.bulk_writer import BulkWriter
from hypercast.rtl.registers import Space, bulk_address
from tests.bench import run, shared
from tests.rtl.control.bulk_manager import BulkManager

_OKAY, _SLVERR = 0, 2


def _run(preset, bursts, *, delay=0.3):
    """The requests (address, data) of bursts (address, bytes, strobes), and their responses."""
    dut = shared(BulkWriter, PRESETS[preset])
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
                requests.append((payload.address, payload.data))
                unsettled = 5

    async def program(ctx):
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
