# SPDX-License-Identifier: BSD-2-Clause
"""A memory of a compiled chip, read and written without its window."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hypercast.host.transport.transport import TransportError

__all__ = ["BackDoor"]


Words: TypeAlias = npt.NDArray[np.uint32]


class BackDoor:
    """Words of ``rtl.lib.parity_memory.ParityMemory``, which banks hold in turn.

    Parameters
    ----------
    name : str
        The memory's name in messages.
    banks : list of numpy.ndarray
        Writable ``uint32`` views (words, pieces of 32 bits) of the banks' contents: word ``n`` is
        in bank ``n mod len(banks)``.
    width : int
        Bits of a word; its parity is the bit above them.
    chunks : int
        Pieces of 32 bits that a word is read and written in; bits beyond ``width`` are zero, and
        are not stored.
    """

    def __init__(self, name: str, banks: Sequence[Words], width: int, chunks: int) -> None:
        self._name = name
        self._banks = banks
        self._width = width
        self._chunks = chunks

    def write(self, address: int, words: Words) -> None:
        """Write (count, chunks) ``uint32`` to words from an address on."""
        stored = np.zeros((len(words), self._banks[0].shape[1]), dtype=np.uint32)
        self._bits(stored)[:] = self._bits(words)
        stored[:, self._width // 32] |= _parity(stored) << np.uint32(self._width % 32)
        for bank, rows, mine in self._shares(address, len(stored)):
            bank[rows] = stored[mine]

    def read(self, address: int, count: int) -> Words:
        """Read (count, chunks) ``uint32`` from an address on.

        Raises
        ------
        TransportError
            If a word is not as it was written.
        """
        stored = np.zeros((count, self._banks[0].shape[1]), dtype=np.uint32)
        for bank, rows, mine in self._shares(address, count):
            stored[mine] = bank[rows]
        if (wrong := np.flatnonzero(_parity(stored))).size:
            raise TransportError(f"word {address + int(wrong[0])} of {self._name} is not what was "
                                 f"written: its parity is wrong; load the device again")
        words = np.zeros((count, self._chunks), dtype=np.uint32)
        self._bits(words)[:] = self._bits(stored)
        return words

    def _bits(self, words: Words) -> npt.NDArray[np.uint8]:
        """The bytes of words that hold their bits."""
        return words.view(np.uint8)[:, :self._width // 8]

    def _shares(self, address: int, count: int) -> Iterator[tuple[Words, slice, slice]]:
        """Each bank, its rows, and which words of the run they are."""
        banks = len(self._banks)
        for number, bank in enumerate(self._banks):
            skip = (number - address) % banks
            first = (address + skip) // banks
            mine = slice(skip, count, banks)
            yield bank, slice(first, first + len(range(count)[mine])), mine


def _parity(words: Words) -> Words:
    """Parity of each row of ``uint32``."""
    folded: Words = np.bitwise_xor.reduce(words, axis=1)
    for shift in (16, 8, 4, 2, 1):
        folded ^= folded >> np.uint32(shift)
    return folded & np.uint32(1)
