# SPDX-License-Identifier: BSD-2-Clause
"""A file in the place of a chip's registers, for transports that access files."""

import os

from hypercast.host.runtime import mapped_transport, xdma_channels, xdma_transport
from hypercast.rtl.config import INTERFACE_VERSION, PRESETS
from hypercast.rtl.registers import MAGIC, register


def files_are_devices(monkeypatch):
    """Let transports take files for devices, which they would leave alone."""
    for module in (mapped_transport, xdma_channels, xdma_transport):
        monkeypatch.setattr(module, "open_device_file",
                            lambda path, flags, **_: os.open(path, flags))


def register_file(path, *, start=0):
    """Make a file with the registers of a ``tiny`` chip after its reset, from a byte on.

    Returns a function that sets some of them, and returns the path.
    """
    path.write_bytes(bytes(start + 4096))

    def place(**values):
        with path.open("r+b") as file:
            for name, value in values.items():
                file.seek(start + register(name))
                file.write(value.to_bytes(4, "little"))
        return str(path)

    place(magic=MAGIC, version=INTERFACE_VERSION, config_hash=PRESETS["tiny"].hash)
    return place
