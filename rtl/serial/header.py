# SPDX-License-Identifier: BSD-2-Clause
"""Layouts of a frame's words; `protocol` has the numbers in them."""

from amaranth.hdl import unsigned
from amaranth.lib import data

__all__ = ["AccessWord", "Header", "Reply"]


class Header(data.Struct):
    """First word of a frame, see ``protocol.header_word``; ``kind`` is a ``protocol.FrameKind``."""

    kind: unsigned(8)
    sequence: unsigned(8)
    session: unsigned(16)


class AccessWord(data.Struct):
    """An access, see ``protocol.access_word``; ``access`` is a ``protocol.AccessKind``."""

    address: unsigned(12)
    reserved: unsigned(2)
    access: unsigned(2)
    count: unsigned(16)


class Reply(data.Struct):
    """A frame to send: its header, and ``length`` words of its sequence number's result."""

    header: Header
    length: unsigned(8)
