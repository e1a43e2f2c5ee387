# SPDX-License-Identifier: BSD-2-Clause
"""Tests every memory that the window reaches: each bit as 0 and as 1, each address by itself."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hypercast.host.runtime.driver import Driver
from hypercast.host.selftest.finding import Finding, hexadecimal
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import Config
from hypercast.rtl.isa import INSTRUCTION_WORDS, ROWS_WIDTH
from hypercast.rtl.registers import CoreSpace, Error, Space

__all__ = ["WindowMemory", "check_memories", "memories"]

#: Bits of an entry of the exponent file.
_TENSOR_WIDTH = 17
#: Addresses that are written or read at once.
_BURST = 1 << 14
#: Broken addresses of one memory, and bits of one address, that are reported.
_LISTED = 3


@dataclass(frozen=True)
class WindowMemory:
    """A memory behind the window.

    Parameters
    ----------
    part : str
        What it is called.
    core : int
        Core, 0 if it is the chip's.
    space : Space
        The memory's window space.
    words, stride : int
        Number of words, and addresses from one to the next.
    width : int
        Bits of a word, at consecutive addresses of 32 bits.
    """

    part: str
    core: int
    space: Space
    words: int
    stride: int
    width: int

    def _choose(self) -> list[int]:
        """The words whose addresses differ in one bit, and the last."""
        powers = [1 << bit for bit in range((self.words - 1).bit_length())]
        return sorted({0, *powers, self.words - 1})

    def spans(self, quick: bool) -> list[tuple[int, int]]:
        """(address, count) of addresses in a row that are visited.

        Addresses between words are visited, too: leaving them out takes longer.
        """
        if quick:
            return [(word * self.stride, self.stride) for word in self._choose()]
        size = self.words * self.stride
        return [(first, min(_BURST, size - first)) for first in range(0, size, _BURST)]

    def pattern(self, address: int, count: int, inverse: bool) -> npt.NDArray[np.uint32]:
        """The words to write: a number of its own for every address, or all its bits inverted."""
        place = np.arange(address, address + count, dtype=np.uint64)
        place += np.uint64((self.core << 3 | self.space) << 32)
        # Steele, Lea and Flood's SplitMix64 (2014): all bits depend on all bits.
        mixed = place * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        value = (mixed >> np.uint64(32)).astype(np.uint32)
        if inverse:
            value = ~value
        return value & ((np.int64(1) << self.bits(address, count)) - 1).astype(np.uint32)

    def bits(self, address: int, count: int) -> npt.NDArray[np.int64]:
        """How many bits there are at each address, 0 to 32; none between words."""
        piece = np.arange(address, address + count, dtype=np.int64) % self.stride
        return np.clip(self.width - 32 * piece, 0, 32)


def memories(config: Config) -> Iterator[WindowMemory]:
    """All memories of a chip.

    Rows of the weight bank narrower than 32 bits read as zero beyond.
    """
    yield WindowMemory("program memory", 0, Space.PROGRAM, config.program_rows, 16,
                       32 * INSTRUCTION_WORDS)
    yield WindowMemory("exponent file", 0, Space.TENSORS, config.tensors, 1, _TENSOR_WIDTH)
    for core in range(config.cores):
        for channel, space in enumerate((Space.FEATURES, Space.GRADIENTS)):
            yield WindowMemory(f"memory channel {channel} of core {core}", core, space,
                               config.channel_words, config.chunks, config.word_width)
        yield WindowMemory(f"weight bank of core {core}", core, Space.WEIGHTS, config.weight_rows,
                           config.chunks, config.data_width)
        yield WindowMemory(f"row table of core {core}", core, Space.CORE,
                           CoreSpace.ROWS + config.row_counts, 1, ROWS_WIDTH)


def check_memories(driver: Driver, *, quick: bool = False,
                   progress: Callable[[str], None] = lambda text: None) -> Iterator[Finding]:
    """Write all memories, then read them all; then the same with every bit the other way.

    Parameters
    ----------
    driver : Driver
        The chip; what is in its memories is lost.
    quick : bool
        Whether to test only the words at addresses 0, 1, 2, 4, 8 and so on, and the last.
    progress : callable
        Called with a line of text before each part.

    Yields
    ------
    Finding
        A memory that is broken, and where.

    Raises
    ------
    TransportError
        If the chip does not answer any more.
    """
    everything = list(memories(driver.config))
    for inverse in (False, True):
        broken: dict[WindowMemory, list[str]] = {memory: [] for memory in everything}
        for access, name in ((_write, "writing"), (_read, "reading")):
            for memory in everything:
                progress(f"{memory.part}, {name}")
                try:
                    broken[memory].extend(access(driver, memory, quick, inverse))
                except TransportError as error:
                    if not driver.answers():
                        raise TransportError(f"{name} {memory.part}: {error}") from error
                    broken[memory].append(str(error))
        for memory, texts in broken.items():
            more = f", and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
            if texts:
                yield Finding(memory.part, "; ".join(texts[:_LISTED]) + more)
        everything = [memory for memory in everything if not broken.get(memory)]


def _write(driver: Driver, memory: WindowMemory, quick: bool, inverse: bool) -> Iterable[str]:
    for address, count in memory.spans(quick):
        driver.write_window(memory.core, memory.space, address,
                            memory.pattern(address, count, inverse))
    driver.flush()
    return []


def _read(driver: Driver, memory: WindowMemory, quick: bool, inverse: bool) -> Iterator[str]:
    driver.monitor.clear_errors()
    found_any = False
    for address, count in memory.spans(quick):
        expected = memory.pattern(address, count, inverse)
        found = np.array(driver.read_window(memory.core, memory.space, address, count),
                         dtype=np.uint32)
        for index in np.flatnonzero((found != expected) & (memory.bits(address, count) > 0)):
            found_any = True
            yield (f"address {address + index} reads {hexadecimal(found[index], 32)}, expected "
                   f"{hexadecimal(expected[index], 32)}: {_bits(found[index] ^ expected[index])}")
    if driver.monitor.clear_errors() & (Error.MEMORY | Error.PROGRAM) and not found_any:
        yield "words are right, but the parity of one is not"


def _bits(wrong: int) -> str:
    """Which bits are wrong, in words."""
    bits = [str(bit) for bit in range(32) if wrong >> bit & 1]
    if len(bits) > _LISTED:
        return f"{len(bits)} bits are wrong"
    return f"bit {bits[0]} is wrong" if len(bits) == 1 else f"bits {', '.join(bits)} are wrong"
