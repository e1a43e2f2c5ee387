# SPDX-License-Identifier: BSD-2-Clause
"""The link's protocol: sizes that fit each other, and the fields of words."""

import pytest

from hypercast.rtl.serial import protocol
from hypercast.rtl.serial.protocol import AccessKind, FrameKind, access_word, header_word


def test_the_longest_access_fills_a_frame():
    """With the header before it, and the check sequence after it."""
    header, access, check = 1, 1, 1
    assert header + access + protocol.LONGEST_ACCESS + check == protocol.FRAME_WORDS == 256


def test_sequence_numbers_tell_what_is_under_way_apart():
    assert protocol.SEQUENCES == 1 << 8
    assert protocol.WINDOW == 4 and protocol.SEQUENCES % protocol.WINDOW == 0


def test_bytes_of_frames():
    """The bytes are those of RFC 1662; what is escaped is neither of them."""
    assert (protocol.FLAG, protocol.ESCAPE, protocol.ESCAPED) == (0x7E, 0x7D, 0x20)
    assert protocol.BAUD == 3_000_000


@pytest.mark.parametrize(("kind", "number"), [
    (FrameKind.OPEN, 1), (FrameKind.COMMAND, 2), (FrameKind.STATE, 3), (FrameKind.RESULT, 4)])
def test_header(kind, number):
    word = header_word(kind, 0xAB, 0xCDEF)
    assert word == 0xCDEFAB00 | number


@pytest.mark.parametrize(("access", "number"), [
    (AccessKind.READ, 0), (AccessKind.WRITE, 1), (AccessKind.RESET, 2)])
def test_access(access, number):
    assert access_word(access, 0xFFC, 0x1234) == 0x12340FFC | number << 14
