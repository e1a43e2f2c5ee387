# SPDX-License-Identifier: BSD-2-Clause
"""Frames of the serial link as bytes: flags, escapes and check sequence, as in RFC 1662."""

import re
import struct
import zlib
from collections.abc import Sequence

from hypercast.rtl.serial.protocol import ESCAPE, ESCAPED, FLAG, FRAME_WORDS

__all__ = ["FrameDecoder", "encode"]

_FLAG, _ESCAPE = bytes([FLAG]), bytes([ESCAPE])
_SPECIAL = re.compile(b"[" + re.escape(_FLAG + _ESCAPE) + b"]")
_ESCAPED = re.compile(re.escape(_ESCAPE) + b"(.)", re.DOTALL)


def encode(words: Sequence[int]) -> bytes:
    """A frame of 32-bit words, without check sequence, as bytes."""
    body = struct.pack(f"<{len(words)}I", *words)
    body += struct.pack("<I", zlib.crc32(body))
    escaped = _SPECIAL.sub(lambda found: _ESCAPE + bytes([found[0][0] ^ ESCAPED]), body)
    return _FLAG + escaped + _FLAG


def _decode(escaped: bytes) -> list[int] | None:
    """The words between two flags, without check sequence; None if they are no frame."""
    if escaped.endswith(_ESCAPE):  # an aborted frame
        return None
    body = _ESCAPED.sub(lambda found: bytes([found[1][0] ^ ESCAPED]), escaped)
    if len(body) < 8 or len(body) % 4:
        return None
    *words, check = struct.unpack(f"<{len(body) // 4}I", body)
    return words if zlib.crc32(body[:-4]) == check else None


class FrameDecoder:
    """Takes frames out of what comes over a line, and throws away what is none."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[list[int]]:
        """The frames that bytes complete: for each, its words without check sequence."""
        *pieces, rest = (self._rest + data).split(_FLAG)
        # What is longer than any frame, every byte of it escaped, is none.
        self._rest = rest[-(8 * FRAME_WORDS + 1):]
        return [words for piece in pieces if (words := _decode(piece))]
