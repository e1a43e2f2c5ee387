# SPDX-License-Identifier: BSD-2-Clause
"""Pseudo-terminals: bytes, clients that come and go, and machines that have none."""

import os

import pytest

from hypercast.host.transport.transport import TransportError
from hypercast.sim.pseudo_terminal import PseudoTerminal

ALL_BYTES = bytes(range(256))


@pytest.fixture
def terminal():
    terminal = PseudoTerminal()
    yield terminal
    terminal.close()


def client(terminal):
    return os.open(terminal.name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)


def test_every_byte_passes_both_ways(terminal):
    file = client(terminal)
    os.write(file, ALL_BYTES)
    assert terminal.exchange(1) == ALL_BYTES
    terminal.send(ALL_BYTES)
    assert terminal.full
    terminal.exchange(1)
    assert not terminal.full
    assert os.read(file, 1000) == ALL_BYTES
    os.close(file)


def test_a_silence(terminal):
    assert terminal.exchange(0) == b""


def test_a_client_comes_back(terminal):
    for text in (b"first", b"second"):
        file = client(terminal)
        os.write(file, text)
        os.close(file)
        assert terminal.exchange(1) == text


def test_what_nobody_takes_hinders_nothing_but_what_comes(terminal):
    terminal.send(bytes(100_000))
    for _ in range(20):
        terminal.exchange(0)
    assert terminal.full
    file = client(terminal)
    os.write(file, b"more")
    assert terminal.exchange(0) == b""
    received = 0
    while terminal.full:
        received += len(os.read(file, 10_000))
        terminal.exchange(0)
    assert terminal.exchange(1) == b"more"
    received += len(os.read(file, 100_000))
    assert received <= 100_000
    os.close(file)


@pytest.mark.parametrize("error", [OSError("out of pty devices"), AttributeError("openpty")])
def test_a_machine_without_any(error, monkeypatch):
    def fail():
        raise error
    monkeypatch.setattr(os, "openpty", fail)
    with pytest.raises(TransportError, match=f"gives no pseudo-terminal: {error}; in a container"):
        PseudoTerminal()
