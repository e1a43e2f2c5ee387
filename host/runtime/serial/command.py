# SPDX-License-Identifier: BSD-2-Clause
"""Register accesses that go into one frame."""

from collections.abc import Sequence

from hypercast.host.transport.transport import TransportError
from hypercast.rtl.serial.protocol import FRAME_WORDS, LONGEST_ACCESS, AccessKind, access_word

__all__ = ["Command"]

#: Words of a frame without header and check sequence.
_ROOM = FRAME_WORDS - 2


class Command:
    """A list of accesses, to be made in order until one fails.

    Attributes
    ----------
    words : list of int
        As in the frame.
    """

    def __init__(self) -> None:
        self.words: list[int] = []
        self._accesses: list[tuple[AccessKind, int, int]] = []  # (access, address, count)
        self._reads = 0

    def write(self, address: int, values: Sequence[int]) -> int:
        """Write values to a register, one after the other; returns how many of them fit."""
        count = min(_ROOM - len(self.words) - 1, len(values))
        if count > 0:
            self._add(AccessKind.WRITE, address, count)
            self.words += values[:count]
        return max(count, 0)

    def read(self, address: int, count: int) -> int:
        """Read a register again and again; returns how often the frame has room for."""
        count = min(LONGEST_ACCESS - self._reads, count) if len(self.words) < _ROOM else 0
        if count:
            self._add(AccessKind.READ, address, count)
            self._reads += count
        return count

    def reset(self) -> None:
        """Reset the chip; only for an empty command."""
        self._add(AccessKind.RESET, 0, 1)

    def _add(self, access: AccessKind, address: int, count: int) -> None:
        self.words.append(access_word(access, address, count))
        self._accesses.append((access, address, count))

    def check(self, result: Sequence[int]) -> list[int]:
        """The words that were read.

        Parameters
        ----------
        result : list of int
            As the board gave it.

        Raises
        ------
        TransportError
            If an access failed, or the result is none of this command's.
        """
        *words, done = result or [0]
        if not result or done > sum(count for *_, count in self._accesses) or \
                len(words) != self._reads_among(done):
            raise TransportError(f"the board answered with {len(result)} words, which are no "
                                 f"result of what it was sent; load its bitstream again")
        for access, address, count in self._accesses:
            if done < count:
                raise TransportError(f"{access.name.lower()} at {address:#x} was refused by the "
                                     f"chip; what came after it in its frame was not done")
            done -= count
        return words

    def _reads_among(self, done: int) -> int:
        """How many of the first accesses, counted one by one, are reads."""
        reads = 0
        for access, _, count in self._accesses:
            reads += min(count, done) if access == AccessKind.READ else 0
            done -= min(count, done)
        return reads
