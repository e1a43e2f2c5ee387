# SPDX-License-Identifier: BSD-2-Clause
"""The serial link's end in C, over lines with faults: every access is made once, in order."""

import ctypes
import random
from ctypes import CFUNCTYPE, POINTER, Structure, c_int, c_size_t, c_ubyte, c_uint32, c_void_p
from enum import IntEnum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.eda.integration.c_header import c_header
from hypercast.host.runtime.serial.bridge_model import BridgeModel
from hypercast.host.runtime.serial.session import Session
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import PRESETS
from hypercast.rtl.serial.protocol import LONGEST_ACCESS, SEQUENCES, WINDOW
from hypercast.sim.line_faults import FaultyLine
from tests.examples.c_driver import SOURCES, compile_c
from tests.host.runtime.serial.test_session import Counting, Recorded, Silent

REGISTER = 0x44
PATIENCE = 100


class Result(IntEnum):
    OK = 0
    BUS_FAILED = 1
    NO_ANSWER = 2
    REFUSED = 3
    WAS_RESET = 4


_Send = CFUNCTYPE(c_int, c_void_p, POINTER(c_ubyte), c_size_t)
_Receive = CFUNCTYPE(c_int, c_void_p, POINTER(c_ubyte), c_size_t, c_uint32)
_Now = CFUNCTYPE(c_uint32, c_void_p)


class _Port(Structure):
    _fields_ = [("send", _Send), ("receive", _Receive), ("now", _Now), ("context", c_void_p)]


class Link:
    """The link in C, with a ``BytePort`` as its line; time passes while it waits.

    Results are those of the functions in C; ``read`` returns a list if it succeeds.
    """

    def __init__(self, library, port, session=1, patience=PATIENCE):
        self.milliseconds, self._library = 2**32 - 1000, library  # and soon zero

        def send(_, data, count):
            try:
                port.send(bytes(data[:count]))
            except TransportError:
                return -1
            return 0

        waiting = bytearray()

        def receive(_, data, size, milliseconds):
            if not waiting:
                try:
                    waiting.extend(port.receive())
                except TransportError:
                    return -1
            taken = bytes(waiting[:size])
            del waiting[:size]
            self.milliseconds += 1 if taken else milliseconds
            for index, byte in enumerate(taken):
                data[index] = byte
            return len(taken)

        self._functions = _Send(send), _Receive(receive), _Now(lambda _: self.milliseconds % 2**32)
        self._state = ctypes.create_string_buffer(library.link_size())
        self.opened = Result(library.link_open(
            self._state, ctypes.byref(_Port(*self._functions, None)), c_uint32(session),
            c_uint32(patience)))

    def read(self, count, register=REGISTER):
        values = (c_uint32 * count)()
        result = Result(self._library.link_read(
            self._state, c_uint32(register), values, c_size_t(count)))
        return result or list(values)

    def write(self, *values, register=REGISTER):
        return Result(self._library.link_write(
            self._state, c_uint32(register), (c_uint32 * len(values))(*values),
            c_size_t(len(values))))

    def flush(self):
        return Result(self._library.link_flush(self._state))


class Chip(Counting):
    """Counts accesses, and refuses those to another register."""

    def __init__(self):
        super().__init__()
        self.resets = 0

    def reset(self):
        self.resets += 1

    def read(self, address):
        self._check(address)
        return super().read(address)

    def write(self, address, value):
        self._check(address)
        super().write(address, value)

    @staticmethod
    def _check(address):
        if address != REGISTER:
            raise TransportError("refused")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    (folder / "hypercast.h").write_text(c_header(PRESETS["tiny"]))
    found = ctypes.CDLL(str(compile_c(
        folder / "link.so", SOURCES / "hypercast_driver.c",
        Path(__file__).with_name("serial_link.c"),
        options=("-shared", "-fPIC", "-DHYPERCAST_SERIAL_ATTEMPTS=200"))))
    found.link_size.restype = c_size_t
    return found


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.002, 0.01, 0.03]))
def test_accesses_are_made_once_whatever_the_line_does(library, seed, rate):
    rng = random.Random(seed)
    chip, expected = Chip(), []
    link = Link(library, FaultyLine(BridgeModel(chip), rng, rate), session=rng.randint(1, 0xFFFF))
    assert link.opened == Result.OK
    assert chip.resets == 1
    for _ in range(rng.randrange(1, 12)):
        for _ in range(rng.randrange(1, 3 * WINDOW)):
            values = [rng.randrange(1 << 32) for _ in range(rng.choice([1, 2, 20]))]
            expected += values
            assert link.write(*values) == Result.OK
            if rate > 0.002:  # long frames would never arrive whole
                assert link.flush() == Result.OK
        count = rng.choice([1, 3, 20])
        expected += ["read"] * count
        assert link.read(count) == [*range(len(expected) - count + 1, len(expected) + 1)]
        assert chip.accesses == expected


@pytest.mark.parametrize("count", [
    1, LONGEST_ACCESS - 1, LONGEST_ACCESS, LONGEST_ACCESS + 1, 3 * LONGEST_ACCESS, 2000])
def test_long_accesses(library, count):
    chip = Chip()
    link = Link(library, BridgeModel(chip))
    assert link.read(count) == [*range(1, count + 1)]
    assert link.write(*range(count)) == link.flush() == Result.OK
    assert chip.accesses == ["read"] * count + [*range(count)]


def test_writes_are_gathered(library):
    """Into frames, of which a window is on its way before an answer is awaited."""
    port = Recorded(BridgeModel(Chip()))
    link = Link(library, port)
    for value in range(100):
        link.write(value)
    assert port.port.chip.accesses == []
    receive, port.receive = port.receive, None
    link.write(*range(100, (WINDOW - 1) * LONGEST_ACCESS + 50))
    assert port.port.chip.accesses == [*range((WINDOW - 1) * LONGEST_ACCESS)]
    port.receive = receive
    assert link.flush() == Result.OK
    assert port.port.chip.accesses == [*range((WINDOW - 1) * LONGEST_ACCESS + 50)]


def test_more_commands_than_sequence_numbers(library):
    chip = Chip()
    link = Link(library, FaultyLine(BridgeModel(chip), random.Random(1), 0.005))
    for number in range(2 * SEQUENCES + 10):
        assert link.write(number) == link.flush() == Result.OK
    assert chip.accesses == list(range(2 * SEQUENCES + 10))


@pytest.mark.parametrize("noise", [b"", b"\x7e\x00\xff" * 20, b"\x7e", b"\x55", b"\x7d" * 100])
def test_nobody_answers(library, noise):
    """However much comes that is no answer, waiting ends."""
    port = Silent(noise)
    link = Link(library, port)
    assert link.opened == Result.NO_ANSWER
    assert link.milliseconds - (2**32 - 1000) <= 200 * WINDOW * (PATIENCE + 1)
    assert link.read(1) == link.write(1) == link.flush() == Result.NO_ANSWER  # at once


def test_a_reset_of_the_board_is_noticed(library):
    board = BridgeModel(Chip())
    link = Link(library, board)
    link.write(1)
    board.press_reset()
    assert link.flush() == link.read(1) == Result.WAS_RESET
    assert not board.chip.accesses


def test_another_session_takes_the_board_over(library):
    board = BridgeModel(Chip())
    link = Link(library, board)
    Session(board)
    assert link.read(1) == Result.WAS_RESET
    assert Link(library, board, session=2).read(1) == [1]


@pytest.mark.parametrize("access", ["read", "write"])
def test_a_refused_access(library, access):
    chip = Chip()
    link = Link(library, BridgeModel(chip))
    link.write(1)
    link.read(2, register=0x10) if access == "read" else link.write(2, register=0x10)
    link.write(3)
    assert link.flush() == Result.REFUSED
    assert chip.accesses == [1]


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_port_that_fails(library, after):
    class Failing(BridgeModel):
        left = after

        def receive(self):
            self.left -= 1
            if self.left < 0:
                raise TransportError("unplugged")
            return super().receive()

    link = Link(library, Failing(Chip()))
    assert link.read(1) == link.write(1) == Result.BUS_FAILED


def test_an_answer_that_is_none(library, monkeypatch):
    """A board whose answers have good frames, but not what was asked for."""
    board = BridgeModel(Chip())
    link = Link(library, board)
    monkeypatch.setattr(board, "_execute", lambda words: [1])
    assert link.read(2) == Result.REFUSED
    link = Link(library, BridgeModel(Chip()), session=2)
    board = BridgeModel(Chip())
    link = Link(library, board, session=2)
    monkeypatch.setattr(board, "_execute", lambda words: [7, 9])
    assert link.read(1) == Result.BUS_FAILED
