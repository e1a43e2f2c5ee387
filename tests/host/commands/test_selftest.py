# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast selftest``: what it prints, and its exit status."""

import json

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.rtl.config import INTERFACE_VERSION, PRESETS
from hypercast.rtl.registers import MAGIC, register
from tests.host.runtime.fake_chip import FakeChip
from tests.host.runtime.register_file import files_are_devices

OPTIONS = ("-P", "channel_words=64", "-P", "weight_rows=16", "-P", "program_rows=16")
CONFIG = PRESETS["tiny"].replace(channel_words=64, weight_rows=16, program_rows=16)


class StuckChip(FakeChip):
    """Bit 4 of everything behind the window is stuck at zero."""

    def write(self, address, value):
        super().write(address, value & ~16 if address == register("data") else value)


@pytest.fixture
def selftest(monkeypatch):
    """Run the command on a chip; returns exit status and output."""
    def run(chip, *arguments):
        monkeypatch.setattr("hypercast.sim.cxxrtl_transport.CxxrtlTransport",
                            lambda config, waves, progress: chip)
        result = CliRunner().invoke(main, ["selftest", *OPTIONS, *arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, result.stdout
    return run


def test_a_sound_chip(selftest):
    chip = FakeChip(CONFIG)
    status, output = selftest(chip, "--section", "memories", "--quick")
    assert (status, output) == (
        0, "memories: sound (every bit of the memories that the window reaches)\n")
    assert chip.closed


def test_a_broken_chip(selftest):
    status, output = selftest(StuckChip(CONFIG), "--quick")
    assert status == 1
    lines = output
    assert "memories: weight bank of core 1: address 0 reads 0x" in lines
    assert "links: not tested, memories must be sound first; reset the chip and repeat" in lines


def test_json(selftest):
    status, output = selftest(StuckChip(CONFIG), "--json")
    first, *others = map(json.loads, output.splitlines())
    assert status == 1
    assert first["section"] == "memories" and first["omitted"] == ""
    assert {"program memory", "exponent file", "row table of core 0"} <= {
        finding["part"] for finding in first["findings"]}
    assert [(one["section"], one["findings"]) for one in others] == [
        ("links", []), ("arrays", []), ("training", [])]


def test_a_chip_of_another_configuration(selftest):
    status, _ = selftest(FakeChip(CONFIG, config_hash=1))
    assert status == 1


def test_a_board_whose_window_is_dead(tmp_path, monkeypatch):
    """A file in the place of XDMA's has the registers, but nothing behind them."""
    files_are_devices(monkeypatch)
    registers = {"magic": MAGIC, "version": INTERFACE_VERSION, "config_hash": CONFIG.hash}
    content = bytearray(4096)
    for name, value in registers.items():
        content[register(name):register(name) + 4] = value.to_bytes(4, "little")
    path = tmp_path / "xdma0_user"
    path.write_bytes(content)
    result = CliRunner().invoke(main, ["selftest", *OPTIONS, "--json", "--quick", "--device",
                                       f"xdma:{path}"])
    assert result.exit_code == 1
    memories, *others = map(json.loads, result.stdout.splitlines())
    assert len(memories["findings"]) == 2 + 4 * CONFIG.cores
    assert all("memories must be sound first" in section["omitted"] for section in others)


@pytest.mark.parametrize(("status", "device", "message"), [
    (2, "fpga", "device 'fpga' is not of the form serial[:PORT][@BAUD], for instance serial, or "
                "serial:/dev/ttyUSB0@3000000; or xdma:FILE or mapped:FILE[@ADDRESS] or rtl"),
    (1, "xdma:/dev/nobody", "device /dev/nobody cannot be opened: No such file or directory"),
    (1, "serial:/dev/nobody", "serial port /dev/nobody at 3000000 baud cannot be used"),
])
def test_devices_that_cannot_be_opened(status, device, message):
    result = CliRunner().invoke(main, ["selftest", "--device", device])
    assert result.exit_code == status
    assert f"error: {message}" in result.stderr


def test_a_chip_too_small_for_the_links(selftest):
    chip = FakeChip(CONFIG.replace(dimensions=2, planes=4))
    status, output = selftest(chip, "--section", "links", "-P", "dimensions=2", "-P", "planes=4")
    assert status == 0
    assert "links: not tested, channel_words is 64, but" in output
