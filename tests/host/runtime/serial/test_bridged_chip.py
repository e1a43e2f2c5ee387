# SPDX-License-Identifier: BSD-2-Clause
"""A chip behind the model of the link: commands reach it, and when it is at work."""

from hypercast.host.runtime.serial.bridged_chip import BridgedChip
from hypercast.host.runtime.serial.frames import FrameDecoder, encode
from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import MAGIC, Status, register
from hypercast.rtl.serial.protocol import AccessKind, FrameKind, access_word, header_word
from tests.host.runtime.fake_chip import FakeChip


def test_commands_reach_the_chip():
    board, decoder = BridgedChip(FakeChip(PRESETS["tiny"])), FrameDecoder()
    board.send(encode([header_word(FrameKind.OPEN, 0, 7)]))
    board.send(encode([header_word(FrameKind.COMMAND, 0, 7),
                       access_word(AccessKind.READ, register("magic"), 1)]))
    answers = []
    while data := board.take():
        answers += decoder.feed(data)
    assert answers == [[header_word(FrameKind.STATE, 0, 7)],
                       [header_word(FrameKind.RESULT, 0, 7), MAGIC, 1]]


def test_when_it_is_busy():
    chip = FakeChip(PRESETS["tiny"], cycles=300)
    board = BridgedChip(chip)
    assert not board.busy
    chip["busy"] = 4
    assert board.busy
    chip["busy"], chip["status"] = 0, Status.RUNNING
    assert board.busy
    chip._count = lambda: None
    board.advance(300, 1)
    assert not board.busy
    board.close()
    assert chip.closed
