# SPDX-License-Identifier: BSD-2-Clause
"""Commands over a line that garbles, loses and repeats: each is carried out once, and answered."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypercast.errors import InputError
from hypercast.host.runtime.serial.frames import FrameDecoder, encode
from hypercast.host.transport.transport import BytePort, TransportError
from hypercast.rtl.serial.protocol import FRAME_WORDS, SEQUENCES, WINDOW, FrameKind, header_word

__all__ = ["Session"]

#: Bytes without an answer among them after which commands are sent again, as after a silence.
_BABBLE = 2 * 4 * FRAME_WORDS * WINDOW
#: Sixteen bits of the header; zero is no session.
_SESSIONS = 0xFFFF


@dataclass
class _Command:
    frame: bytes
    result: list[int] = field(default_factory=list)


class Session:
    """The host's end of the link.

    Up to ``WINDOW`` commands are under way. What is not answered is sent again, after a silence,
    or as soon as the board says that it missed a command.

    Parameters
    ----------
    port : BytePort
        The line.
    attempts : int
        How often a command is sent before the board is given up.
    number : int, optional
        The session's, 1 to 65535, where all bytes are to be the same again. By default it is
        random, so that the board tells this session from earlier ones.

    Raises
    ------
    TransportError
        If nobody answers.
    InputError
        If there is no session of that number.
    """

    def __init__(self, port: BytePort, *, attempts: int = 10, number: int | None = None) -> None:
        if number is None:
            number = 1 + secrets.randbelow(_SESSIONS)
        if not 1 <= number <= _SESSIONS:
            raise InputError(f"session number {number}: give one of 1 to {_SESSIONS}")
        self._port = port
        self._attempts = attempts
        self._decoder = FrameDecoder()
        self._number = number
        self._next: int | None = None  # sequence number; None until the board has told
        self._commands: list[_Command] = []  # whose results nobody has taken
        self._unanswered: dict[int, _Command] = {}  # sequence number to command, the oldest first
        self._failures = 0  # time-outs in a row
        self._repeated = False  # the unanswered were sent again, and none answered since
        self._babble = 0
        self._opening = encode([header_word(FrameKind.OPEN, 0, self._number)])
        port.send(self._opening)
        while self._next is None:
            self._receive()

    def post(self, words: Sequence[int]) -> None:
        """Send a command; waits if too many are under way.

        Parameters
        ----------
        words : sequence of int
            What follows the header.
        """
        assert self._next is not None  # the board has told
        while self._unanswered and (self._next - next(iter(self._unanswered))) % SEQUENCES \
                >= WINDOW:
            self._receive()
        header = header_word(FrameKind.COMMAND, self._next, self._number)
        command = _Command(encode([header, *words]))
        self._commands.append(command)
        self._unanswered[self._next] = command
        self._next = (self._next + 1) % SEQUENCES
        self._port.send(command.frame)

    def results(self) -> list[list[int]]:
        """Wait for all results that were not taken yet: their words, in the order of commands.

        Raises
        ------
        TransportError
            If the board does not answer, or was reset meanwhile.
        """
        while self._unanswered:
            self._receive()
        commands, self._commands = self._commands, []
        return [command.result for command in commands]

    def close(self) -> None:
        """Release the port."""
        self._port.close()

    def _receive(self) -> None:
        data = self._port.receive()
        self._babble += len(data)
        for header, *words in self._decoder.feed(data):
            self._handle(header, words)
        if not data or self._babble > _BABBLE:
            self._failures += 1
            if self._failures >= self._attempts:
                raise TransportError(
                    f"the board did not answer {self._failures} times; check that it is on, its "
                    f"cable, and the baud rate")
            self._repeat()

    def _handle(self, header: int, words: list[int]) -> None:
        kind, sequence, session = header & 0xFF, header >> 8 & 0xFF, header >> 16
        if self._next is None:
            if kind == FrameKind.STATE and session == self._number:
                self._next = sequence
                self._progress()
        elif session != self._number:
            if kind == FrameKind.STATE:
                raise TransportError("the board was reset, or another program opened it: its state "
                                     "is lost; start again")
        elif kind == FrameKind.STATE:
            if not self._repeated:
                self._repeat()
        elif kind == FrameKind.RESULT and sequence in self._unanswered:
            self._unanswered.pop(sequence).result = words
            self._progress()

    def _progress(self) -> None:
        self._failures = self._babble = 0
        self._repeated = False

    def _repeat(self) -> None:
        self._repeated = True
        self._babble = 0
        if self._next is None:
            self._port.send(self._opening)
        for command in self._unanswered.values():
            self._port.send(command.frame)
