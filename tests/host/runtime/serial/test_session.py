# SPDX-License-Identifier: BSD-2-Clause
"""Session over lines with faults: every command is carried out once, in order."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.runtime.serial.bridge_model import BridgeModel
from hypercast.host.runtime.serial.frames import encode
from hypercast.host.runtime.serial.session import Session
from hypercast.host.transport.transport import BytePort, Transport, TransportError
from hypercast.rtl.serial.protocol import (
    FRAME_WORDS,
    SEQUENCES,
    WINDOW,
    AccessKind,
    FrameKind,
    access_word,
    header_word,
)
from hypercast.sim.line_faults import FaultyLine

REGISTER = 0x44


class Counting(Transport):
    """A register whose every access counts: reading gives how many accesses there were."""

    def __init__(self):
        self.accesses = []

    def read(self, address):
        self.accesses.append("read")
        return len(self.accesses)

    def write(self, address, value):
        self.accesses.append(value)

    def wait(self, cycles):
        pass


def write(*values):
    return [access_word(AccessKind.WRITE, REGISTER, len(values)), *values]


def read(count):
    return [access_word(AccessKind.READ, REGISTER, count)]


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.002, 0.01, 0.03]))
def test_commands_are_carried_out_once_whatever_the_line_does(seed, rate):
    """Accesses with side effects, in batches of any size, against what they must have done."""
    rng = random.Random(seed)
    chip = Counting()
    session = Session(FaultyLine(BridgeModel(chip), rng, rate), attempts=200,
                      number=rng.randint(1, 0xFFFF))
    expected = []
    for _ in range(rng.randrange(1, 12)):
        results = []
        for _ in range(rng.randrange(1, 3 * WINDOW)):
            if rng.random() < 0.5:
                values = [rng.randrange(1 << 32) for _ in range(rng.randrange(1, 20))]
                expected += values
                session.post(write(*values))
                results.append([len(values)])
            else:
                count = rng.randrange(1, 20)
                expected += ["read"] * count
                session.post(read(count))
                results.append([*range(len(expected) - count + 1, len(expected) + 1), count])
        assert session.results() == results
        assert chip.accesses == expected


def test_more_commands_than_sequence_numbers():
    chip = Counting()
    session = Session(FaultyLine(BridgeModel(chip), random.Random(1), 0.005), attempts=50,
                      number=1)
    for number in range(600):
        session.post(write(number))
    assert session.results() == [[1]] * 600
    assert chip.accesses == list(range(600))


class Recorded(BytePort):
    """Another port, and how many commands were under way at most."""

    def __init__(self, port):
        self.port, self.sent, self.most = port, 0, 0

    def send(self, data):
        self.sent += 1
        self.most = max(self.most, self.sent)
        self.port.send(data)

    def receive(self):
        if data := self.port.receive():
            self.sent = 0
        return data


def test_a_window_of_commands_is_under_way():
    port = Recorded(BridgeModel(Counting()))
    session = Session(port)
    for number in range(20):
        session.post(write(number))
    session.results()
    assert port.most == WINDOW


def test_results_are_given_once():
    session = Session(BridgeModel(Counting()))
    session.post(read(1))
    assert session.results() == [[1, 1]]
    assert session.results() == []


class Scripted(BytePort):
    """Receives what a script says, and counts what it sends."""

    def __init__(self, *script):
        self.script, self.sent = [b"".join(frames) for frames in script], []

    def send(self, data):
        self.sent.append(data)

    def receive(self):
        return self.script.pop(0)


def frame(kind, sequence, *words, number=7):
    return encode([header_word(kind, sequence % SEQUENCES, number), *words])


STATE, RESULT = frame(FrameKind.STATE, 0), frame(FrameKind.RESULT, 0)
#: Bytes of two windows.
LONGEST = 2 * 4 * FRAME_WORDS * WINDOW


def test_what_the_board_missed_is_sent_again_at_once_and_once():
    """However often it says so; but again once it has answered something since."""
    port = Scripted([STATE], [STATE], [STATE, STATE], [frame(FrameKind.RESULT, 0, 5)],
                    [STATE, STATE], [frame(FrameKind.RESULT, 1, 6)])
    session = Session(port, number=7)
    for value in (1, 2):
        session.post(write(value))
    opening, first, second = port.sent
    assert session.results() == [[5], [6]]
    assert port.sent == [opening, first, second, first, second, second]
    assert port.script == []


def test_silences_between_answers_do_not_add_up():
    """Each answer is progress; the attempts are counted from then on."""
    port = Scripted([STATE], [b""], [b""], [frame(FrameKind.RESULT, 0)], [b""], [b""],
                    [frame(FrameKind.RESULT, 1)])
    session = Session(port, number=7, attempts=3)
    for value in (1, 2):
        session.post(write(value))
    assert session.results() == [[], []]
    opening, first, second = port.sent[:3]
    assert port.sent == [opening, first, second, *[first, second] * 2, *[second] * 2]


def test_the_opening_is_sent_again_until_the_board_tells_its_state():
    """That of another session is none, nor is an answer."""
    port = Scripted([frame(FrameKind.STATE, 3, number=8)], [b""], [frame(FrameKind.RESULT, 0)],
                    [b""], [frame(FrameKind.STATE, 9)], [frame(FrameKind.RESULT, 8, 1)],
                    [frame(FrameKind.RESULT, 9, 2, number=6)], [frame(FrameKind.RESULT, 9, 3)])
    session = Session(port, number=7)
    assert len(port.sent) == 3 and len({*port.sent}) == 1
    session.post(write(1))
    assert session.results() == [[3]] and len(port.sent) == 4


def test_as_much_babble_as_two_windows_is_none_yet():
    """Whatever was received before the board told its state."""
    port = Scripted([b"\x7e" * LONGEST], [STATE], [b"\x7e" * LONGEST], [RESULT])
    session = Session(port, number=7)
    session.post(write(1))
    assert session.results() == [[]]
    assert port.sent[:1] == [frame(FrameKind.OPEN, 0)] and len(port.sent) == 2


@pytest.mark.parametrize("first", [0, 3, SEQUENCES - 2])
def test_a_window_is_under_way_from_any_sequence_number_on(first):
    port = Scripted([frame(FrameKind.STATE, first)],
                    [frame(FrameKind.RESULT, first, 1), frame(FrameKind.RESULT, first + 1, 2)])
    session = Session(port, number=7)
    for value in range(WINDOW):
        session.post(write(value))
    assert len(port.script) == 1
    for value in range(2):
        session.post(write(value))
    assert port.script == []
    with pytest.raises(IndexError):
        session.post(write(0))


@pytest.mark.parametrize("attempts", [1, 4])
def test_babble_without_an_answer_is_a_silence(attempts):
    """As soon as there are more bytes than two windows of the longest frames."""
    port = Scripted([STATE], *[[b"\x7e" * LONGEST], [b"\x7e"]] * attempts)
    session = Session(port, number=7, attempts=attempts)
    session.post(write(1))
    with pytest.raises(TransportError, match=f"did not answer {attempts} times"):
        session.results()
    assert port.script == [] and len(port.sent) == 2 + attempts - 1


class Silent(BytePort):
    """Nobody is there."""

    def __init__(self, noise=b""):
        self.sent, self.noise = 0, noise

    def send(self, data):
        self.sent += 1

    def receive(self):
        return self.noise


@pytest.mark.parametrize("noise", [b"", b"\x7e\x00\xff" * 20])
def test_nobody_answers(noise):
    port = Silent(noise)
    with pytest.raises(TransportError, match="the board did not answer 3 times; check that it is "):
        Session(port, attempts=3)
    assert port.sent == 3


def test_ten_attempts_are_made():
    port = Silent()
    with pytest.raises(TransportError, match="did not answer 10 times"):
        Session(port)
    assert port.sent == 10


@pytest.mark.parametrize("pending", [False, True])
def test_a_reset_of_the_board_is_noticed(pending):
    board = BridgeModel(Counting())
    session = Session(board)
    if pending:
        session.post(write(1))
        board.receive()
        board._output = b""  # the answer is lost
    board.press_reset()
    session.post(write(2))
    with pytest.raises(TransportError, match="the board was reset, or another program opened it"):
        session.results()
    assert 2 not in board.chip.accesses


def test_another_session_takes_the_board_over():
    board = BridgeModel(Counting())
    first = Session(board)
    second = Session(board)
    second.post(write(1))
    second.results()
    first.post(write(2))
    with pytest.raises(TransportError, match="another program opened it"):
        first.results()
    assert board.chip.accesses == [1]


def test_a_session_goes_on_where_the_same_one_ended():
    """Numbers are drawn at random, so that they can meet."""
    board = BridgeModel(Counting())
    for value in range(3):
        session = Session(board, number=42)
        session.post(write(value))
        assert session.results() == [[1]]
    assert board.chip.accesses == [0, 1, 2]


@pytest.mark.parametrize("number", [1, 0xFFFF])
def test_the_first_and_the_last_session_number(number):
    session = Session(BridgeModel(Counting()), number=number)
    session.post(read(1))
    assert session.results() == [[1, 1]]


@pytest.mark.parametrize("number", [0, 0x10000])
def test_a_session_number_that_does_not_exist(number):
    with pytest.raises(ValueError, match=f"session number {number}: give one of 1 to 65535"):
        Session(BridgeModel(Counting()), number=number)
