# SPDX-License-Identifier: BSD-2-Clause
"""Finds boards: what a device's name means, and what answers on this machine's serial ports."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from serial.tools import list_ports

from hypercast.errors import InputError
from hypercast.host.files.reading.whole_numbers import whole_number
from hypercast.host.runtime.chip_reset import check_magic
from hypercast.host.runtime.serial.serial_port import SerialPort
from hypercast.host.runtime.serial.serial_transport import SerialTransport
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import INTERFACE_VERSION, Config
from hypercast.rtl.registers import MAGIC, register
from hypercast.rtl.serial.protocol import BAUD

__all__ = ["Found", "discover", "open_serial", "serial_address"]

#: How often a port is asked before it is taken for something else's.
_ATTEMPTS = 2
#: Bits per second that adapters have.
_BAUDS = range(50, 12_000_001)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A serial port, and what is there.

    Attributes
    ----------
    port : str
        The port's name.
    config_hash : int or None
        The chip's configuration hash; None if there is no Hypercast of this version.
    reason : str
        Why there is none; empty if there is one.
    """

    port: str
    config_hash: int | None
    reason: str


def serial_address(name: str) -> tuple[str | None, int]:
    """Port (None: to be found) and baud rate of device ``serial[:PORT][@BAUD]``.

    Raises
    ------
    InputError
        If it has not that form, or no port is that fast.
    """
    place, at, rate = name.partition("@")
    kind, colon, port = place.partition(":")
    try:
        baud = whole_number(rate) if at else BAUD
    except ValueError:
        baud = None
    if kind != "serial" or bool(colon) != bool(port) or baud is None or "\0" in port:
        raise InputError(f"device {name!r} is not of the form serial[:PORT][@BAUD], for instance "
                         f"serial, or serial:/dev/ttyUSB0@{BAUD}")
    if baud not in _BAUDS:
        raise InputError(f"device {name!r} is of {baud} baud, but ports have {_BAUDS[0]} to "
                         f"{_BAUDS[-1]}; give the board's, usually {BAUD}")
    return port or None, baud


def discover(baud: int, *, ports: Iterable[str] | None = None) -> list[Found]:
    """Find the board on each serial port. Asking sends a few bytes to any device there.

    Parameters
    ----------
    baud : int
        Bits per second.
    ports : iterable of str, optional
        Ports to ask, instead of all of this machine.
    """
    if ports is None:
        ports = sorted(port.device for port in list_ports.comports())
    return [_ask(port, baud) for port in ports]


def _ask(port: str, baud: int) -> Found:
    try:
        transport = SerialTransport(SerialPort(port, baud), attempts=_ATTEMPTS)
    except TransportError as error:
        return Found(port=port, config_hash=None, reason=str(error))
    try:
        magic, version, found = (transport.read(register(name))
                                 for name in ("magic", "version", "config_hash"))
    except TransportError as error:
        return Found(port=port, config_hash=None, reason=str(error))
    finally:
        transport.close()
    if (magic, version) != (MAGIC, INTERFACE_VERSION):
        return Found(port=port, config_hash=None,
                     reason=f"its chip is of interface version {version}, not {INTERFACE_VERSION}"
                     if magic == MAGIC else "its chip is no Hypercast")
    return Found(port=port, config_hash=found, reason="")


def open_serial(name: str, config: Config) -> SerialTransport:
    """The transport to a board, its chip just reset.

    Parameters
    ----------
    name : str
        ``serial[:PORT][@BAUD]``; without port, the only board with a chip of this configuration.
    config : Config
        Configuration of the chip.

    Raises
    ------
    TransportError
        If there is no such board, or more than one.
    InputError
        If the name is wrong.
    """
    port, baud = serial_address(name)
    if port is None:
        port = _find(discover(baud), config, baud)
    transport = SerialTransport(SerialPort(port, baud))
    try:
        check_magic(transport, port)
        transport.reset()
    except TransportError:
        transport.close()
        raise
    return transport


def _find(found: Sequence[Found], config: Config, baud: int) -> str:
    fitting = [board.port for board in found if board.config_hash == config.hash]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(f"serial:{port}" for port in fitting)
        raise TransportError(f"there are {len(fitting)} boards of this configuration; choose one: "
                             f"{names}")
    seen = "; ".join(
        f"{board.port}: {board.reason or f'configuration {board.config_hash:#010x}'}"
        for board in found) or "this machine has no serial ports"
    raise TransportError(f"found no board of configuration {config.hash:#010x} at {baud} baud; "
                         f"connect one, or use the preset it was built with ({seen})")
