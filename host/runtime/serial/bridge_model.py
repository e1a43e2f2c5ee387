"""The board's end of the link in Python, with any transport as its chip."""

from hypercast.host.runtime.serial.frames import FrameDecoder, encode
from hypercast.host.runtime.transport import Port, TransportError
from hypercast.rtl.serial.protocol import (
    LONGEST_ACCESS,
    SEQUENCES,
    WINDOW,
    Access,
    Kind,
    header_word,
)

__all__ = ["BridgeModel"]


class BridgeModel(Port):
    """What ``rtl.link.bridge`` does, frame by frame.

    Parameters
    ----------
    chip : Transport
        Its ``read``, ``write`` and, if there is one, ``reset``.
    """

    def __init__(self, chip):
        self.chip = chip
        self._decoder = FrameDecoder()
        self._output = b""
        self.closed = False
        self.press_reset()

    def press_reset(self):
        """As the board's button does."""
        self._session, self._sequence = 0, 0
        self._results = [[]] * WINDOW

    def send(self, data):
        for header, *words in self._decoder.feed(data):
            self._output += encode(self._answer(header & 0xFF, header >> 8 & 0xFF, header >> 16,
                                                words))

    def receive(self):
        data, self._output = self._output[:50], self._output[50:]
        return data

    def close(self):
        self.closed = True

    def _answer(self, kind, sequence, session, words):
        if kind == Kind.OPEN and session not in (0, self._session):
            self._session, self._sequence = session, 0
        behind = (self._sequence - sequence) % SEQUENCES
        if kind == Kind.COMMAND and self._session == session != 0 and behind <= WINDOW:
            if behind == 0:
                self._results[sequence % WINDOW] = self._execute(words)
                self._sequence = (sequence + 1) % SEQUENCES
            return [header_word(Kind.RESULT, sequence, session), *self._results[sequence % WINDOW]]
        return [header_word(Kind.STATE, self._sequence, self._session)]

    def _execute(self, words):
        read, done, words = [], 0, list(words)
        try:
            while words:
                word = words.pop(0)
                access, address, count = word >> 14 & 3, word & 0xFFC, word >> 16
                for _ in range(count):
                    match access:
                        case Access.READ if len(read) < LONGEST_ACCESS:
                            read.append(self.chip.read(address))
                        case Access.WRITE if words:
                            self.chip.write(address, words.pop(0))
                        case Access.RESET:
                            self.chip.reset()
                        case _:
                            return [*read, done]
                    done += 1
        except TransportError:
            pass
        return [*read, done]
