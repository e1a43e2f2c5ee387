# SPDX-License-Identifier: BSD-2-Clause
"""Words of frames, as they pass between the blocks of the link."""

from amaranth.hdl import unsigned
from amaranth.lib import crc, data

__all__ = ["CRC_32", "FrameWord"]

#: CRC-32 of ISO 3309 (FCS-32 of RFC 1662), byte by byte.
CRC_32 = crc.catalog.CRC32_ISO_HDLC(data_width=8)


class FrameWord(data.Struct):
    """One word of a frame; ``last`` marks the frame's end."""

    data: unsigned(32)
    last: unsigned(1)
