# SPDX-License-Identifier: BSD-2-Clause
"""What has the name of a device and is none, or another one, is refused and left as it is."""

import os

import pytest

from hypercast.host.runtime.chip_transport import open_transport
from hypercast.host.runtime.device_file import open_device_file, require_device_file
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import PRESETS
from tests.host.runtime.other_files import FILES, left_alone

KINDS = ["xdma", "mapped", "serial"]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", FILES)
def test_what_is_no_device_is_left_alone(kind, make, tmp_path):
    with left_alone(tmp_path, make) as path:
        with pytest.raises(TransportError, match=f"{path}.*(no character device|No such file)"):
            open_transport(f"{kind}:{path}", PRESETS["tiny"])


@pytest.mark.timeout(30)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"])
def test_other_devices_are_none_of_ours(kind, device):
    with pytest.raises(TransportError, match=device):
        open_transport(f"{kind}:{device}", PRESETS["tiny"])


def test_resources_of_pcie_can_be_mapped():
    """They are the only regular files that are devices."""
    path = "/sys/kernel/notes"
    if not os.path.isfile(path):
        pytest.skip(f"there is no {path}")
    require_device_file(path, mapped=True)
    for mapped in (False, True):
        with pytest.raises(OSError, match="no character device"):
            require_device_file(__file__, mapped=mapped)
    with pytest.raises(OSError, match="no character device"):
        require_device_file(path)


def test_a_file_that_is_put_there_meanwhile(tmp_path, monkeypatch):
    path = tmp_path / "device"
    path.symlink_to("/dev/null")
    opened = os.open

    def replaced(*arguments):
        path.unlink()
        path.write_bytes(b"mine")
        return opened(*arguments)

    monkeypatch.setattr(os, "open", replaced)
    with pytest.raises(OSError, match="replaced while it was opened"):
        open_device_file(str(path), os.O_RDWR)
    assert path.read_bytes() == b"mine"
