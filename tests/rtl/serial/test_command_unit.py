# SPDX-License-Identifier: BSD-2-Clause
"""CommandUnit in front of registers whose every access counts, against the model of the bridge."""

import numpy as np
import pytest

from hypercast.host.runtime.serial.bridge_model import BridgeModel
from hypercast.host.transport.transport import Transport, TransportError
from hypercast.rtl.serial.command_unit import CommandUnit
from hypercast.rtl.serial.protocol import (
    LONGEST_ACCESS,
    AccessKind,
    FrameKind,
    access_word,
    header_word,
)
from tests.bench import put, run

#: Registers from here on refuse.
LIMIT = 0x800
SESSION = 0x1234


class Registers(Transport):
    """Reading gives the number of accesses before; a log of all."""

    def __init__(self):
        self.log = []

    def _access(self, *entry):
        if entry[1] >= LIMIT:
            raise TransportError("refused")
        self.log.append(entry)
        return len(self.log) - 1

    def read(self, address):
        return self._access("read", address)

    def write(self, address, value):
        self._access("write", address, value)

    def reset(self):
        self.log.append(("reset",))

    def wait(self, cycles):
        pass


def play(frames, rng, delay=0.3):
    """The replies to frames, as words, and the registers' log."""
    dut = CommandUnit()
    registers = Registers()
    results, replies = {}, []

    async def serve(ctx):
        bus = dut.bus
        while True:
            _, _, valid, write, address, data = await ctx.tick().sample(
                bus.valid, bus.write, bus.address, bus.data)
            if not valid or rng.random() < delay:
                continue
            try:
                value = registers.write(4 * address, data) if write else registers.read(4 * address)
                ctx.set(bus.result, value or 0)
            except TransportError:
                ctx.set(bus.error, 1)
            ctx.set(bus.done, 1)
            await ctx.tick()
            ctx.set(bus.done, 0)
            ctx.set(bus.error, 0)
            ctx.set(bus.result, 0)

    async def reset(ctx):
        while True:
            _, _, begins = await ctx.tick().sample(dut.reset)
            if begins:
                registers.reset()
                ctx.set(dut.resetting, 1)
                for _ in range(int(rng.integers(1, 20))):
                    await ctx.tick()
                ctx.set(dut.resetting, 0)

    async def store(ctx):
        while True:
            _, _, write, sequence, index, value = await ctx.tick().sample(
                dut.result_write, dut.result_sequence, dut.result_index, dut.result)
            if write:
                results[sequence, index] = value

    async def receive(ctx):
        while len(replies) < len(frames):
            ctx.set(dut.reply.ready, rng.random() >= delay)
            _, _, valid, ready, reply = await ctx.tick().sample(
                dut.reply.valid, dut.reply.ready, dut.reply.payload)
            if valid and ready:
                header = reply.header
                replies.append([
                    header_word(header.kind, header.sequence, header.session),
                    *(results[header.sequence, index] for index in range(reply.length))])

    words = [{"data": word, "last": index == len(frame)}
             for frame in frames for index, word in enumerate([*frame, 0xC4C])]
    run(dut, lambda ctx: put(ctx, dut.i, words, rng, delay), receive,
        background=[serve, reset, store])
    return replies, registers.log


def expected(frames):
    model = BridgeModel(Registers())
    return [model._answer(header & 0xFF, header >> 8 & 0xFF, header >> 16, words)
            for header, *words in frames], model.chip.log


def command(sequence, *words, session=SESSION):
    return [header_word(FrameKind.COMMAND, sequence, session), *words]


def opening(session=SESSION):
    return [header_word(FrameKind.OPEN, 0, session)]


def write(address, *values):
    return access_word(AccessKind.WRITE, address, len(values)), *values


def read(address, count):
    return access_word(AccessKind.READ, address, count)


CASES = {
    "before any session": [command(0, read(4, 1)), command(0, read(4, 1), session=0)],
    "accesses": [opening(), command(0, *write(8, 1, 2, 3), read(4, 2), *write(12, 5))],
    "nothing to do": [opening(), command(0), command(1, read(4, 0)), command(2, write(8)[0])],
    "again": [opening(), command(0, *write(8, 1)), command(0, *write(8, 1)), opening(),
              command(0, *write(8, 1)), command(1, read(4, 3)), command(1, read(4, 3))],
    "too early": [opening(), command(1, *write(8, 1)), command(0, *write(8, 2))],
    "a window back, and more": [
        opening(), *(command(number, read(4, number)) for number in range(6)),
        *(command(number, read(4, number)) for number in range(6))],
    "a refused write": [opening(), command(0, *write(8, 1), *write(LIMIT, 2, 3), *write(8, 4)),
                        command(1, *write(8, 5))],
    "a refused read": [opening(), command(0, read(4, 1), read(LIMIT, 2), read(4, 1))],
    "data that are missing": [opening(), command(0, *write(8, 1), write(8, 2, 3)[0], 7)],
    "more than a result holds": [
        opening(), command(0, read(4, LONGEST_ACCESS + 1)), command(1, read(4, LONGEST_ACCESS))],
    "no access": [opening(), command(0, 3 << 14 | 1 << 16, *write(8, 1)), command(1, read(4, 1))],
    "reset": [opening(), command(0, *write(8, 1)),
              command(1, access_word(AccessKind.RESET, 0, 1)), command(2, *write(8, 2)),
              command(1, access_word(AccessKind.RESET, 0, 1))],
    "another host": [opening(), command(0, read(4, 1)), opening(7), command(1, read(4, 1)),
                     command(0, read(4, 1), session=7)],
    "unknown kinds": [opening(), [header_word(9, 0, SESSION), 1, 2, 3], command(0, read(4, 1))],
}


@pytest.mark.parametrize("frames", CASES.values(), ids=CASES)
def test_cases(frames):
    rng = np.random.default_rng(1)
    assert play(frames, rng) == expected(frames)


@pytest.mark.parametrize("delay", [0.0, 0.6])
def test_any_frames(delay):
    """Words at random, mostly of what makes sense."""
    rng = np.random.default_rng(int(10 * delay))
    frames, sequence = [opening()], 0
    for _ in range(80):
        words = []
        for _ in range(int(rng.integers(4))):
            count, access = int(rng.integers(4)), int(rng.choice(4, p=[0.4, 0.5, 0.05, 0.05]))
            words.append(access_word(access, 4 * int(rng.integers(600)), count))
            words += rng.integers(1 << 18, size=int(rng.integers(4))).tolist() \
                if rng.random() < 0.2 else list(range(count if access == AccessKind.WRITE else 0))
        frames.append(command(sequence, *words))
        move = rng.random()
        sequence = (sequence + (1 if move < 0.7 else 0 if move < 0.9 else -2)) % 256
    answers, log = play(frames, rng, delay)
    assert (answers, log) == expected(frames)
    assert len(log) > 40
