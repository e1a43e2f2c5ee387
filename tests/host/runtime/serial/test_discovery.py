# SPDX-License-Identifier: BSD-2-Clause
"""Names of serial devices, and finding boards on this machine's ports."""

import pytest

from hypercast.host.runtime.serial import discovery
from hypercast.host.runtime.serial.bridge_model import BridgeModel
from hypercast.host.runtime.serial.discovery import Found, discover, open_serial, serial_address
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.serial.protocol import BAUD
from tests.host.models import SMALL
from tests.host.runtime.fake_chip import FakeChip

OTHER = SMALL.replace(buffer_depth=8)


class ResettableChip(FakeChip):
    resets = 0

    def reset(self):
        self.resets += 1


@pytest.fixture
def boards(monkeypatch):
    """Chips by the name of their port; any other port has nobody behind it."""
    chips = {}

    def open_port(name, baud):
        if name not in chips:
            raise TransportError(f"serial port {name} cannot be used")
        return BridgeModel(chips[name])

    monkeypatch.setattr(discovery, "SerialPort", open_port)
    monkeypatch.setattr(discovery.list_ports, "comports", lambda: [
        type("Port", (), {"device": name})() for name in [*chips, "/dev/nobody"]])
    return chips


@pytest.mark.parametrize(("name", "address"), [
    ("serial", (None, BAUD)), ("serial:/dev/ttyUSB0", ("/dev/ttyUSB0", BAUD)),
    ("serial:COM3@115200", ("COM3", 115200)), ("serial@9600", (None, 9600))])
def test_addresses(name, address):
    assert serial_address(name) == address


@pytest.mark.parametrize("name", ["serial:", "uart", "serial@", "serial:COM3@fast", "serials"])
def test_no_addresses(name):
    with pytest.raises(ValueError, match=rf"device '{name}' is not of the form serial\[:PORT\]"):
        serial_address(name)


def test_discover(boards):
    boards |= {"a": FakeChip(SMALL), "b": FakeChip(SMALL, magic=1), "c": FakeChip(SMALL, version=1)}
    found = {one.port: one for one in discover(BAUD)}
    assert found["a"] == Found(port="a", config_hash=SMALL.hash, reason="")
    assert found["b"].reason == "its chip is no Hypercast"
    assert found["c"].reason.startswith("its chip is of interface version 1, not ")
    assert found["/dev/nobody"].reason == "serial port /dev/nobody cannot be used"
    assert [one.config_hash for one in found.values()].count(None) == 3


def test_the_only_board_that_fits_is_opened_and_reset(boards):
    boards |= {"a": ResettableChip(OTHER), "b": ResettableChip(SMALL)}
    transport = open_serial("serial", SMALL)
    assert transport.read(8) == SMALL.hash
    assert (boards["a"].resets, boards["b"].resets) == (0, 1)


def test_no_board_fits(boards):
    boards["a"] = FakeChip(OTHER)
    with pytest.raises(TransportError, match=(
            f"no board of configuration {SMALL.hash:#010x} at {BAUD} baud; .*/dev/nobody: serial "
            f"port /dev/nobody cannot be used; a: configuration {OTHER.hash:#010x}")):
        open_serial("serial", SMALL)


def test_several_boards_fit(boards):
    boards |= {"a": FakeChip(SMALL), "b": FakeChip(SMALL)}
    with pytest.raises(TransportError, match=r"2 boards of .*; choose one: serial:a, serial:b"):
        open_serial("serial", SMALL)


def test_no_ports(boards, monkeypatch):
    monkeypatch.setattr(discovery.list_ports, "comports", lambda: [])
    with pytest.raises(TransportError, match=r"this machine has no serial ports"):
        open_serial("serial", SMALL)
