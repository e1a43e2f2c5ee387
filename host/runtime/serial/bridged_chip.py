# SPDX-License-Identifier: BSD-2-Clause
"""A simulated chip behind the serial link, without the wires: bytes in, bytes out."""

from typing import Protocol

from hypercast.host.runtime.serial.bridge_model import BridgeModel, ChipRegisters
from hypercast.rtl.registers import Status, register

__all__ = ["BridgedChip"]


class SimulatedChip(ChipRegisters, Protocol):
    """The chip behind the link: time passes for it only when it is told so."""

    def wait(self, cycles: int) -> None:
        """Let clock cycles pass."""

    def close(self) -> None:
        """End the simulation."""


class BridgedChip:
    """A simulated chip as the board that ``sim.serial_terminal`` makes a port of.

    The chip is simulated, the bridge is its model. So a byte takes no cycles, and a chip without
    work takes no time at all.

    Parameters
    ----------
    chip : SimulatedChip
        The chip.
    """

    def __init__(self, chip: SimulatedChip) -> None:
        self._chip = chip
        self._bridge = BridgeModel(chip)

    @property
    def busy(self) -> bool:
        """Whether a program runs, or engines are at work."""
        return bool(self._chip.read(register("status")) & Status.RUNNING
                    or self._chip.read(register("busy")))

    def send(self, data: bytes) -> None:
        """Take bytes from the host, and do what they say."""
        self._bridge.send(data)

    def advance(self, cycles: int, count: int) -> None:
        """Let cycles pass."""
        self._chip.wait(cycles)

    def take(self) -> bytes:
        """Bytes for the host, some at a time."""
        return self._bridge.receive()

    def close(self) -> None:
        """End the simulation."""
        self._chip.close()
