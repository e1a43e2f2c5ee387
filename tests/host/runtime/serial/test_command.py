# SPDX-License-Identifier: BSD-2-Clause
"""Command: what fits, and what failed."""

import pytest

from hypercast.host.runtime.serial.command import Command
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.serial.protocol import FRAME_WORDS, LONGEST_ACCESS, AccessKind, access_word


def test_words():
    command = Command()
    assert command.write(0x44, [1, 2]) == 2
    assert command.read(0x30, 3) == 3
    assert command.words == [
        access_word(AccessKind.WRITE, 0x44, 2), 1, 2, access_word(AccessKind.READ, 0x30, 3)]
    assert command.check([7, 8, 9, 5]) == [7, 8, 9]


def test_frames_are_filled_and_not_more():
    command = Command()
    assert command.write(0x44, list(range(1000))) == LONGEST_ACCESS
    assert len(command.words) == FRAME_WORDS - 2
    assert command.write(0x44, [1]) == command.read(0x44, 1) == 0


def test_results_are_filled_and_not_more():
    command = Command()
    assert command.read(0x44, 200) == 200
    assert command.read(0x48, 1000) == LONGEST_ACCESS - 200
    assert command.read(0x4C, 1) == 0
    assert command.write(0x44, [1]) == 1


@pytest.mark.parametrize("result", [[], [3], [11, 12], [11, 12, 7], [11, 6], [11, 12, 13, 6],
                                    [11, 12, 4], [0, 3], [11, 12, 1 << 31]])
def test_what_is_no_result_of_the_command(result):
    command = Command()
    command.write(0x38, [1, 2, 3, 4])
    command.read(0x44, 2)
    assert command.check([11, 12, 6]) == [11, 12]
    with pytest.raises(TransportError, match=r"no result of what it was sent|was refused"):
        command.check(result)


def test_the_access_that_failed_is_named():
    command = Command()
    command.write(0x38, [1])
    command.write(0x44, [1, 2, 3])
    command.read(0x44, 2)
    for done, access in ((0, "write at 0x38"), (1, "write at 0x44"), (3, "write at 0x44"),
                         (4, "read at 0x44"), (5, "read at 0x44")):
        with pytest.raises(TransportError, match=f"{access} was refused by the chip"):
            command.check([0] * max(done - 4, 0) + [done])
    assert command.check([11, 12, 6]) == [11, 12]
