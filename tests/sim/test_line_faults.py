# SPDX-License-Identifier: BSD-2-Clause
"""FaultyLine: what it injects is what it says, and nothing else is lost."""

import random
from collections import Counter

import pytest

from hypercast.host.transport.transport import BytePort
from hypercast.sim.line_faults import FAULTS, FaultyLine


class Loop(BytePort):
    """What is sent comes back."""

    def __init__(self):
        self.data = b""

    def send(self, data):
        self.data += data

    def receive(self):
        data, self.data = self.data[:7], self.data[7:]
        return data


def receive_all(line):
    """Everything, until two silences in a row."""
    data, silences = b"", 0
    while silences < 2:
        piece = line.receive()
        silences = 0 if piece else silences + 1
        data += piece
    return data


def test_no_faults():
    line = FaultyLine(Loop(), random.Random(1), 0)
    line.send(bytes(range(256)))
    assert receive_all(line) == bytes(range(256))
    assert not line.injected


@pytest.mark.parametrize("kind", FAULTS)
def test_each_fault_does_what_it_says(kind, monkeypatch):
    monkeypatch.setattr("hypercast.sim.line_faults.FAULTS", (kind,))
    line = FaultyLine(Loop(), random.Random(1), 0.02)
    sent = bytes(index % 251 for index in range(2000))
    line.send(sent)
    received = receive_all(line)
    count = line.injected[kind]
    assert line.injected == Counter({kind: count}) and count > 30
    match kind:
        case "flip":
            changes = [one ^ other for one, other in zip(sent, received, strict=True)]
            assert {1 << bit for bit in range(8)} == {*changes} - {0}
            assert sum(map(bool, changes)) == count
        case "lose":
            assert len(received) == len(sent) - count
        case "repeat":
            assert len(received) == len(sent) + count
        case "garbage":
            assert len(received) > len(sent) + count
        case "delay":
            assert received == sent
