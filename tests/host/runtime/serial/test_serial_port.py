# SPDX-License-Identifier: BSD-2-Clause
"""SerialPort on a pseudo-terminal."""

import os
import tty

import pytest

from hypercast.host.runtime.serial.serial_port import SerialPort
from hypercast.host.transport.transport import TransportError

BAUD = 3_000_000


@pytest.fixture
def terminal():
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    yield ours, os.ttyname(theirs)
    os.close(ours)
    os.close(theirs)


def test_every_byte_passes_both_ways(terminal):
    ours, name = terminal
    port = SerialPort(name, BAUD)
    data = bytes(range(256)) * 4
    port.send(data)
    received = b""
    while len(received) < len(data):
        received += os.read(ours, 4096)
    assert received == data
    os.write(ours, data)
    received = b""
    while len(received) < len(data):
        received += port.receive()
    assert received == data
    port.close()


def test_silence(terminal):
    port = SerialPort(terminal[1], BAUD)
    assert port.receive() == b""
    port.close()


def test_no_such_port():
    with pytest.raises(TransportError, match="serial port /dev/nobody at 9600 baud cannot be used"):
        SerialPort("/dev/nobody", 9600)


def test_a_port_in_use(terminal):
    port = SerialPort(terminal[1], BAUD)
    with pytest.raises(TransportError, match="no other program has it open"):
        SerialPort(terminal[1], BAUD)
    port.close()


def test_a_port_that_goes_away():
    ours, theirs = os.openpty()
    name = os.ttyname(theirs)
    port = SerialPort(name, BAUD)
    os.close(ours)
    os.close(theirs)
    with pytest.raises(TransportError, match=f"serial port {name} failed: .*; check the cable"):
        port.receive()
    port.close()
