# SPDX-License-Identifier: BSD-2-Clause
"""Damaged frames of the serial link, in both directions, and such as no board sends."""

from random import Random

from hypercast.benches.fuzzing.bytes_damage import damaged_bytes
from hypercast.benches.fuzzing.trial import (
    READ,
    REFUSED,
    SAME,
    Trial,
    WrongError,
    check_refusal,
    require,
)
from hypercast.host.runtime.serial.bridge_model import BridgeModel
from hypercast.host.runtime.serial.frames import FrameDecoder, encode
from hypercast.host.runtime.serial.serial_transport import SerialTransport
from hypercast.host.transport.transport import BytePort, Transport, TransportError
from hypercast.rtl.serial.protocol import LONGEST_ACCESS, FrameKind, header_word

__all__ = ["try_link_frames"]

#: A host that asks more often than that never gives up.
_MOST_RECEIVED = 20_000
_WORDS = (0, 1, 2, 3, 255, 256, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)


class _Registers(Transport):
    """Every register holds the value that was written last; reading a register counts it up."""

    def __init__(self) -> None:
        self.values: dict[int, int] = {}

    def read(self, address: int) -> int:
        self.values[address] = (self.values.get(address, 0) + 1) % (1 << 32)
        return self.values[address]

    def write(self, address: int, value: int) -> None:
        self.values[address] = value

    def wait(self, cycles: int) -> None:
        pass

    def reset(self) -> None:
        self.values.clear()


class _DamagedLine(BytePort):
    """A board's port that damages some of the bytes that go through it.

    Parameters
    ----------
    board : BytePort
        The board.
    random : random.Random
        Decides the damage, and its time.
    rate : float
        How often it happens.
    forged : bool
        Whether frames may come that the board did not send.
    """

    def __init__(self, board: BytePort, random: Random, rate: float, forged: bool) -> None:
        self._board, self._random, self._rate, self._forged = board, random, rate, forged
        self.received = self.damaged = 0

    def _some(self) -> bool:
        happens = self._random.random() < self._rate
        self.damaged += happens
        return happens

    def send(self, data: bytes) -> None:
        self._board.send(damaged_bytes(self._random, data)[0] if self._some() else data)

    def receive(self) -> bytes:
        self.received += 1
        if self.received > _MOST_RECEIVED:
            raise WrongError("the host asks again and again, and never gives up")
        data = self._board.receive()
        if not self._some():
            return data
        if self._forged:
            return self._forgery(data)
        return damaged_bytes(self._random, data)[0]

    def _forgery(self, data: bytes) -> bytes:
        """A frame with the right check sequence, before the bytes that came, or made of them."""
        frames = FrameDecoder().feed(data)
        random = self._random
        words = random.choice(frames) if frames else [header_word(
            random.choice(list(FrameKind)), random.randrange(256), random.choice((0, 7, 8)))]
        match random.choice(("word", "word", "short", "long", "kind")):
            case "word":
                words[random.randrange(len(words))] = random.choice(_WORDS)
            case "short":
                words = words[:random.randrange(len(words)) + 1]
            case "long":
                words = words + [random.choice(_WORDS)] * random.choice((1, 2, 300))
            case "kind":
                words[0] = words[0] & ~0xFF | random.randrange(256)
        return encode(words) + (data if random.random() < 0.5 else b"")


def try_link_frames(trial: Trial) -> str:
    """Registers written and read over a line that damages bytes, or a board that sends nonsense."""
    random = trial.random
    forged = trial.chance(0.4)
    rate = random.choice((0.0, 0.05, 0.3, 0.9))
    trial.note(f"{'forged frames' if forged else 'damaged bytes'}, {rate} of all")
    chip, expected = _Registers(), _Registers()
    line = _DamagedLine(BridgeModel(chip), random, rate, forged)
    try:
        transport = SerialTransport(line, attempts=random.choice((2, 20)), number=7)
        for _ in range(random.randint(1, 8)):
            _access(random, transport, expected, forged)
        transport.close()
    except TransportError as error:
        check_refusal(str(error), ["board", "refused by the chip"])
        require(rate > 0, f"nothing is damaged, but refused: {error}")
        return REFUSED
    require(forged or chip.values == expected.values, "the chip holds other values than written")
    return READ if line.damaged else SAME


def _access(random: Random, transport: SerialTransport, expected: _Registers,
            forged: bool) -> None:
    address = 4 * random.randrange(64)
    count = random.choice((1, 2, 20, LONGEST_ACCESS, LONGEST_ACCESS + 1))
    if random.random() < 0.1:
        transport.reset()
        expected.reset()
    elif random.random() < 0.5:
        values = [random.choice((*_WORDS, random.getrandbits(32), 0x7D7E7D7E))
                  for _ in range(count)]
        transport.write_stream(address, values)
        expected.write(address, values[-1])
    else:
        found = transport.read_stream(address, count)
        wanted = [expected.read(address) for _ in range(count)]
        require(len(found) == count, f"read {len(found)} words, not {count}")
        require(forged or found == wanted, f"read {found[:4]}..., not {wanted[:4]}...")
