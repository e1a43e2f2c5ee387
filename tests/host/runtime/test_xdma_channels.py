# SPDX-License-Identifier: BSD-2-Clause
"""XdmaChannels, with files in the place of the driver's."""

import os

import pytest

from hypercast.host.runtime.xdma_channels import XdmaChannels
from hypercast.host.runtime.xdma_transport import XdmaTransport, open_xdma
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.registers import Space, Status, bulk_address, striped_address
from tests.host.runtime.register_file import files_are_devices, register_file

PLACE = bulk_address(2, Space.GRADIENTS, 0x120)


@pytest.fixture(autouse=True)
def devices(monkeypatch):
    files_are_devices(monkeypatch)


@pytest.fixture
def board(tmp_path):
    """Files of a board with a bulk port: registers, and memory that both channels reach."""
    memory = tmp_path / "memory"
    memory.touch()
    for name in ("xdma0_h2c_0", "xdma0_c2h_0"):
        (tmp_path / name).symlink_to(memory)
    return register_file(tmp_path / "xdma0_user")(status=Status.BULK)


def test_transfers_are_at_their_addresses(board, tmp_path):
    transport = open_xdma(f"xdma:{board}")
    assert transport.bulk
    transport.write_bulk(PLACE, b"sixteen bytes of")
    transport.write_bulk(PLACE + 16, b"data")
    assert transport.read_bulk(PLACE + 8, 12) == b"bytes ofdata"
    transport.close()
    with (tmp_path / "memory").open("rb") as file:
        file.seek(2 << 32 | 3 << 29 | 0x120)
        assert file.read() == b"sixteen bytes ofdata"


def test_transfers_of_all_cores_are_at_their_addresses(board, tmp_path):
    transport = open_xdma(f"xdma:{board}")
    transport.write_bulk(striped_address(Space.GRADIENTS, 0x340), b"of all cores")
    transport.close()
    with (tmp_path / "memory").open("rb") as file:
        file.seek(1 << 38 | 1 << 37 | 0x340)
        assert file.read() == b"of all cores"


def test_a_chip_without_the_port(tmp_path):
    """The board has channels, too, but nothing is behind them."""
    path = register_file(tmp_path / "xdma0_user")()
    transport = open_xdma(f"xdma:{path}")
    assert not transport.bulk
    with pytest.raises(TransportError, match="does not reach its bulk port"):
        transport.write_bulk(PLACE, bytes(16))
    with pytest.raises(TransportError, match="does not reach its bulk port"):
        transport.read_bulk(PLACE, 16)
    transport.close()


def test_a_link_to_the_file_of_the_driver(board, tmp_path):
    link = tmp_path / "card"
    link.symlink_to(board)
    transport = open_xdma(f"xdma:{link}")
    assert transport.bulk
    transport.close()


@pytest.mark.parametrize("name", ["xdma0_h2c_0", "xdma0_c2h_0"])
def test_a_channel_that_is_missing(board, tmp_path, name):
    (tmp_path / name).unlink()
    count = len(os.listdir("/proc/self/fd"))
    with pytest.raises(TransportError, match=rf"DMA channel .*/{name} cannot be opened: No such "
                                             r"file or directory; .*load the xdma driver anew"):
        open_xdma(f"xdma:{board}")
    assert len(os.listdir("/proc/self/fd")) == count


def test_a_name_that_channels_do_not_follow_from(tmp_path):
    path = register_file(tmp_path / "card")(status=Status.BULK)
    with pytest.raises(TransportError, match=r"card has a bulk port, but .* give that name"):
        open_xdma(f"xdma:{path}")


def test_transfers_that_stop_or_fail(board, tmp_path):
    transport = XdmaTransport(board)
    transport.open_channels()
    transport.write_bulk(PLACE, bytes(16))
    with pytest.raises(TransportError, match=rf"DMA read at {PLACE:#x} of .*xdma0_c2h_0 stopped "
                                             r"after 16 of 64 bytes; open or load the device "
                                             r"again, which resets the chip"):
        transport.read_bulk(PLACE, 64)
    transport.close()
    channels = XdmaChannels(board)
    channels.close()
    with pytest.raises(TransportError, match=rf"DMA write at {PLACE:#x} of .*xdma0_h2c_0 failed: "
                                             r"Bad file descriptor; the chip refuses it while"):
        channels.write(PLACE, bytes(16))
    with pytest.raises(TransportError, match=r"DMA read at .* failed: Bad file descriptor"):
        channels.read(PLACE, 16)


@pytest.mark.parametrize("name", ["xdma0_h2c_0", "xdma0_c2h_0"])
def test_a_channel_that_is_no_device(board, tmp_path, monkeypatch, name):
    """Another user may have put it there."""
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(b"mine")
    monkeypatch.undo()
    with pytest.raises(TransportError, match=rf"{name}|h2c_0 cannot be opened: it is no character"):
        XdmaChannels(board)
    assert (tmp_path / name).read_bytes() == b"mine"
