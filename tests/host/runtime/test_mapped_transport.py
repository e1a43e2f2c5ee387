# SPDX-License-Identifier: BSD-2-Clause
"""MappedTransport, with a file in the place of a processor's address space."""

import pytest

from hypercast.host.runtime.chip_transport import open_transport
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.mapped_transport import MappedTransport, mapped_place, open_mapped
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import Control, Status, register
from tests.host.runtime.register_file import files_are_devices, register_file

TINY = PRESETS["tiny"]


@pytest.fixture(autouse=True)
def devices(monkeypatch):
    files_are_devices(monkeypatch)


@pytest.fixture
def space(tmp_path):
    """A file with a chip's registers at 0x10000, and a function that sets them."""
    return register_file(tmp_path / "mem", start=0x10000)


def test_accesses_are_words_at_the_address(space, tmp_path):
    transport = MappedTransport(space(step=0x89ABCDEF), 0x10000)
    assert transport.read(register("step")) == 0x89ABCDEF
    transport.write(register("step"), 0xFEDCBA98)
    transport.write_stream(register("data"), [5, 6, 0xFFFFFFFF])
    assert transport.read_stream(register("step"), 2) == [0xFEDCBA98] * 2
    assert transport.read(register("data")) == 0xFFFFFFFF
    transport.wait(10)
    transport.close()
    content = (tmp_path / "mem").read_bytes()
    assert content[0x10000 + register("step"):][:4] == bytes([0x98, 0xBA, 0xDC, 0xFE])
    assert not any(content[:0x10000])


def test_the_driver_knows_the_chip(space):
    transport = open_transport(f"mapped:{space()}@0x10000", TINY)
    assert Driver(transport, TINY).monitor.cycles() == 0
    transport.close()


def test_nobody_is_refused_and_a_chip_reset(space, tmp_path):
    with pytest.raises(TransportError, match=r"no chip at 0x0 of .*reads 0x00000000, not 0x"):
        open_mapped(f"mapped:{space()}")
    path = space(status=Status.RUNNING, cycles_low=9)
    open_mapped(f"mapped:{path}@65536").close()
    assert (tmp_path / "mem").read_bytes()[0x10000 + register("control")] == Control.RESET
    path = space(status=Status.RESETTING)
    with pytest.raises(TransportError, match="reset does not end, because a memory"):
        open_mapped(f"mapped:{path}@65536")


def test_what_cannot_be_mapped(space, tmp_path):
    for path, address, reason in ((tmp_path / "nobody", 0, "No such file"),
                                  (tmp_path, 0, "Is a directory"),
                                  (space(), 0x11000, "the file ends before the registers do")):
        with pytest.raises(TransportError, match=f"registers at {address:#x} of .*{reason}.*check"):
            MappedTransport(str(path), address)


@pytest.mark.parametrize(("name", "place"), [
    ("mapped:/dev/uio0", ("/dev/uio0", 0)), ("mapped:/dev/mem@0xa0000000", ("/dev/mem", 10 << 28)),
    ("mapped:x@65536", ("x", 65536))])
def test_names(name, place):
    assert mapped_place(name) == place


@pytest.mark.parametrize(("name", "message"), [
    ("mapped:", "not of the form"), ("mapped:x@", "not of the form"),
    ("mapped:x@-1", "not of the form"), ("mapped:x@y", "not of the form"),
    ("mapped:x@1", "a multiple of 0x"), ("mapped:x@0x8000000000000000", "below 2"),
    ("xdma:x", "not of the form mapped:FILE")])
def test_names_that_are_none(name, message):
    with pytest.raises(ValueError, match=message):
        mapped_place(name)
