# SPDX-License-Identifier: BSD-2-Clause
"""Session over lines with faults: every command is carried out once, in order."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.runtime.serial.bridge_model import BridgeModel
from hypercast.host.runtime.serial.session import Session
from hypercast.host.transport.transport import BytePort, Transport, TransportError
from hypercast.rtl.serial.protocol import WINDOW, AccessKind, access_word
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


@pytest.mark.parametrize("number", [0, 0x10000])
def test_a_session_number_that_does_not_exist(number):
    with pytest.raises(ValueError, match=f"session number {number}: give one of 1 to 65535"):
        Session(BridgeModel(Counting()), number=number)
