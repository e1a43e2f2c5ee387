# SPDX-License-Identifier: BSD-2-Clause
"""The self-test on boards, and that it finds there what it finds on the simulated chip."""

import json
import os
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.runtime import xdma_transport
from hypercast.host.runtime.chip_transport import open_transport
from hypercast.host.runtime.serial.bridge_model import BridgeModel
from hypercast.host.runtime.serial.serial_transport import SerialTransport
from hypercast.host.selftest.run import SECTIONS, self_test
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import PRESETS
from hypercast.rtl.layouts import flit
from hypercast.rtl.registers import register
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from hypercast.sim.faults import Fault, FaultKind
from hypercast.sim.serial_board import SimulatedSerialBoard
from hypercast.sim.serial_terminal import SerialTerminal
from tests.system.chips import WIDE

#: So slow that no time-out expires, however busy the machine is.
BAUD = 300
PAYLOAD = flit(WIDE)["payload"].offset


def test_a_sound_board_through_a_pseudo_terminal():
    with SerialTerminal(SimulatedSerialBoard(PRESETS["tiny"])) as terminal:
        result = CliRunner().invoke(main, ["selftest", "--preset", "tiny", "--quick", "--json",
                                           "--device", f"serial:{terminal.name}@{BAUD}"])
    assert result.exit_code == 0, result.output
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"section": section, "omitted": "", "findings": []} for section in SECTIONS]


class BrokenChip(CxxrtlTransport):
    """A simulated chip, with a bit of a memory that is always one if ``cell`` names it."""

    def __init__(self, *faults, cell=None):
        super().__init__(WIDE)
        for fault in faults:
            self.inject(fault)
        self._cell = cell
        self._contents = self.contents()

    def read(self, address):
        if self._cell and address == register("data"):
            name, word, chunk, bit = self._cell
            self._contents[name][0][word, chunk] |= 1 << bit
        return super().read(address)

    def reset(self):
        """It was just powered up."""


def link_fault(kind):
    return Fault(cycle=0, core=2, dimension=1, kind=kind, bit=PAYLOAD + 5)


BROKEN = {
    "nothing": (lambda: BrokenChip(), []),
    "memory": (lambda: BrokenChip(cell=("core_3 weights storage_0 with_parity", 4, 1, 21)),
               ["weight bank of core 3"]),
    "corrupting link": (lambda: BrokenChip(link_fault(FaultKind.FLIP)),
                        ["link from core 2 to core 0 (dimension 1)"]),
    "losing link": (lambda: BrokenChip(link_fault(FaultKind.DROP)),
                    ["link from core 2 to core 0 (dimension 1)"]),
    "stuck link": (lambda: BrokenChip(link_fault(FaultKind.STUCK_AT_1)),
                   ["a link into core 0, from one of cores 1, 2"]),
}


def on_pcie(chip, monkeypatch):
    """A chip behind a file that behaves as XDMA's: what was refused reads as ones."""
    def pread(file, count, address):
        try:
            return chip.read(address).to_bytes(count, "little")
        except TransportError:
            return b"\xff" * count

    def pwrite(file, data, address):
        chip.write(address, int.from_bytes(data, "little"))
        return len(data)

    monkeypatch.setattr(xdma_transport, "os", SimpleNamespace(
        pread=pread, pwrite=pwrite, close=lambda file: chip.close(),
        O_RDWR=os.O_RDWR, O_SYNC=os.O_SYNC))
    monkeypatch.setattr(xdma_transport, "open_device_file", lambda path, flags: 3)
    monkeypatch.setattr(xdma_transport, "claim", lambda file, *place: None)
    return open_transport("xdma:/dev/xdma0_user", WIDE)


def on_a_serial_port(chip, monkeypatch):
    transport = SerialTransport(BridgeModel(chip))
    transport.reset()
    return transport


def sections(transport):
    results = list(self_test(transport, WIDE, quick=True))
    transport.close()
    return results


@pytest.mark.grid
@pytest.mark.parametrize("device", [on_a_serial_port, on_pcie])
@pytest.mark.parametrize("broken", BROKEN)
def test_the_findings_are_those_on_the_simulated_chip(broken, device, monkeypatch):
    make, parts = BROKEN[broken]
    expected = sections(make())
    assert [finding.part for section in expected for finding in section.findings] == parts
    assert sections(device(make(), monkeypatch)) == expected
