# SPDX-License-Identifier: BSD-2-Clause
"""XdmaTransport, with a file in the place of the driver's."""

import os

import pytest

from hypercast.host.runtime.device_errors import MismatchError
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.xdma_transport import XdmaTransport, open_xdma, xdma_path
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import Control, Status, register
from tests.host.runtime.register_file import files_are_devices, register_file

TINY = PRESETS["tiny"]


@pytest.fixture(autouse=True)
def devices(monkeypatch):
    files_are_devices(monkeypatch)


@pytest.fixture
def registers(tmp_path):
    """A file with the registers of a chip after its reset, and a function that sets them."""
    return register_file(tmp_path / "xdma0_user")


def test_accesses_are_words_of_the_file(registers, tmp_path):
    transport = XdmaTransport(registers(step=0x89ABCDEF))
    assert transport.read(register("step")) == 0x89ABCDEF
    transport.write(register("step"), 0x01234567)
    transport.write_stream(register("data"), [5, 6, 7])
    assert transport.read_stream(register("step"), 2) == [0x01234567] * 2
    assert transport.read(register("data")) == 7
    transport.wait(10)
    transport.close()
    content = (tmp_path / "xdma0_user").read_bytes()
    assert content[register("step"):][:4] == bytes([0x67, 0x45, 0x23, 0x01])
    assert len(content) == 4096


def test_the_driver_knows_the_chip(registers):
    transport = open_xdma(f"xdma:{registers()}")
    assert Driver(transport, TINY).monitor.cycles() == 0
    with pytest.raises(MismatchError, match="config_hash"):
        Driver(transport, PRESETS["test"])
    transport.close()


def test_ones_are_data_or_nobody(registers):
    transport = XdmaTransport(registers(data=0xFFFFFFFF))
    assert transport.read(register("data")) == 0xFFFFFFFF
    registers(magic=0xFFFFFFFF)
    with pytest.raises(TransportError, match="answers with ones only, so the board is gone; load "
                                             "its bitstream"):
        transport.read(register("data"))
    transport.close()


@pytest.mark.parametrize("status", [0, Status.DONE, Status.RUNNING, Status.DONE | Status.ERROR])
def test_opening_resets_the_chip(registers, tmp_path, status):
    open_xdma(f"xdma:{registers(status=status, cycles_low=9)}").close()
    assert (tmp_path / "xdma0_user").read_bytes()[register("control")] == Control.RESET


def test_what_is_no_chip_is_not_written_to(registers, tmp_path):
    for magic in (0, 0xFFFFFFFF):
        path = registers(magic=magic)
        before = (tmp_path / "xdma0_user").read_bytes()
        with pytest.raises(TransportError, match=r"there is no chip at 0x0 of .*xdma0_user|gone"):
            open_xdma(f"xdma:{path}")
        assert (tmp_path / "xdma0_user").read_bytes() == before


def test_a_reset_that_does_not_end(registers):
    with pytest.raises(TransportError, match="reset does not end, because a memory of it does not"):
        open_xdma(f"xdma:{registers(status=Status.RESETTING)}")


def test_errors_name_the_file_and_the_address(registers, tmp_path):
    with pytest.raises(TransportError, match="nobody cannot be opened: No such file"):
        XdmaTransport(str(tmp_path / "nobody"))
    path = registers()
    transport = XdmaTransport(path)
    os.truncate(path, 0x12)
    with pytest.raises(TransportError, match=r"read at 0x10 of .*xdma0_user failed: 2 bytes came"):
        transport.read(0x10)
    transport.close()
    with pytest.raises(TransportError, match=r"read at 0x10 .*Bad file descriptor"):
        transport.read(0x10)
    with pytest.raises(TransportError, match=r"write at 0x10 .*Bad file descriptor"):
        transport.write(0x10, 1)


@pytest.mark.parametrize("name", ["xdma", "xdma:", "serial:/dev/xdma0_user"])
def test_names(name):
    assert xdma_path("xdma:/dev/xdma0_user") == "/dev/xdma0_user"
    with pytest.raises(ValueError, match="not of the form xdma:FILE, for instance"):
        xdma_path(name)
