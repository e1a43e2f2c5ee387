# SPDX-License-Identifier: BSD-2-Clause
"""The serial link's frames, as bridge and host share them; `docs/link.md` explains them.

This module imports no Amaranth.
"""

import enum

__all__ = [
    "BAUD", "ESCAPE", "ESCAPED", "FLAG", "FRAME_WORDS", "LONGEST_ACCESS", "SEQUENCES", "WINDOW",
    "AccessKind", "FrameKind", "access_word", "header_word",
]

#: Bits per second of a board, unless it says otherwise.
BAUD = 3_000_000
#: Byte before and after every frame (RFC 1662's flag sequence).
FLAG = 0x7E
#: Byte that announces a changed one (RFC 1662's control escape).
ESCAPE = 0x7D
#: What a byte equal to FLAG or ESCAPE is XORed with, after an ESCAPE.
ESCAPED = 0x20

#: Sequence numbers: 0 to SEQUENCES - 1, then 0 again.
SEQUENCES = 256
#: Commands that may be on their way unanswered; a power of two.
WINDOW = 4
#: Longest frame in 32-bit words, header and check sequence included.
FRAME_WORDS = 256
#: Most words written or read by one frame: all but header, access word or count, and check.
LONGEST_ACCESS = FRAME_WORDS - 3


class FrameKind(enum.IntEnum):
    """Kind of a frame, bits 7:0 of the frame's header."""

    OPEN = 1      #: Host: begin the session in the header, unless it has begun.
    COMMAND = 2   #: Host: carry out accesses.
    STATE = 3     #: Bridge: its session, and the sequence number it expects.
    RESULT = 4    #: Bridge: what a command read, then how many accesses succeeded.


class AccessKind(enum.IntEnum):
    """Kind of an access, bits 15:14 of the access word."""

    READ = 0   #: Read a register ``count`` times.
    WRITE = 1  #: Write the ``count`` words that follow to a register, one after the other.
    RESET = 2  #: Reset the chip, but not the link; ``count`` is 1, the address 0.


def header_word(kind: int, sequence: int, session: int) -> int:
    """First word of a frame: kind in bits 7:0, sequence number in 15:8, session in 31:16."""
    return kind | sequence << 8 | session << 16


def access_word(access: int, address: int, count: int) -> int:
    """An access: byte address in bits 11:0, what to do in 15:14, how often in 31:16."""
    return address | access << 14 | count << 16
