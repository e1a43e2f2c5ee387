# SPDX-License-Identifier: BSD-2-Clause
"""Opens the transport to a chip: simulated, on a serial port, on PCIe, or mapped."""

from collections.abc import Callable

from hypercast.errors import InputError
from hypercast.host.runtime.mapped_transport import MAPPED, open_mapped
from hypercast.host.runtime.serial.discovery import open_serial, serial_address
from hypercast.host.runtime.xdma_transport import XDMA, open_xdma
from hypercast.host.transport.transport import Transport
from hypercast.rtl.config import Config
from hypercast.sim.waves import Waves

__all__ = ["RTL", "open_transport"]

#: The device that is the whole chip, simulated.
RTL = "rtl"


def open_transport(name: str, config: Config, *, waves: Waves | None = None,
                   progress: Callable[[str], None] = lambda text: None) -> Transport:
    """The transport to a chip that holds nothing of a program that was broken off.

    Parameters
    ----------
    name : str
        ``rtl``, ``serial[:PORT][@BAUD]``, ``xdma:FILE`` or ``mapped:FILE[@ADDRESS]``.
    config : Config
        Configuration of the chip.
    waves : Waves, optional
        Waveforms to be written; of ``rtl`` only.
    progress : callable
        Called with a line of text before each slow step.

    Raises
    ------
    TransportError
        If there is no such board, or its present chip cannot be used.
    InputError
        If no device is called so.
    """
    if name == RTL:
        from hypercast.sim.cxxrtl_transport import CxxrtlTransport  # brings the hardware with it
        return CxxrtlTransport(config, waves=waves, progress=progress)
    if waves:
        raise InputError(f"{name} is a board, which shows no waveforms; leave out --vcd, or take "
                         f"device {RTL}")
    if name.startswith(XDMA):
        return open_xdma(name)
    if name.startswith(MAPPED):
        return open_mapped(name)
    try:
        serial_address(name)
    except InputError as error:
        raise InputError(f"{error}; or {XDMA}FILE or {MAPPED}FILE[@ADDRESS] or {RTL}") from None
    return open_serial(name, config)
