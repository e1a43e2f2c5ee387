# SPDX-License-Identifier: BSD-2-Clause
"""The messages by which links are tested: who sends which words to whom, in which plane."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hypercast.host.compiler.images import Words
from hypercast.host.compiler.packing import pack_records
from hypercast.reference.array_types import IntArray
from hypercast.rtl.config import Config

__all__ = ["Case", "cases", "messages_of", "patterns", "words_of"]


class Case(NamedTuple):
    """All cores send the same rows to the same destinations relative to themselves, in one plane.

    Attributes
    ----------
    dimension : int or None
        Links that are tested; None for messages to all cores.
    plane : int
        Plane.
    first : int
        In a message to all, row ``i`` is taken from the core at relative address ``first + i``.
    """

    dimension: int | None
    plane: int
    first: int = 0

    def destinations(self, config: Config) -> int:
        """Destinations of every message, relative to its sender."""
        return (1 << config.cores) - 1 if self.dimension is None else 1 << (1 << self.dimension)

    def sources(self, config: Config, rows: int) -> list[int]:
        """Sender of each row that a core takes, relative to it."""
        if self.dimension is None:
            return [(self.first + row) % config.cores for row in range(rows)]
        return [1 << self.dimension] * rows

    def __str__(self) -> str:
        what = "messages to all" if self.dimension is None else f"dimension {self.dimension}"
        return f"{what}, plane {self.plane}"


def cases(config: Config) -> Iterator[Case]:
    """All cases: first single links, then all at once."""
    rows = len(patterns(config))
    for plane in range(config.planes):
        for dimension in range(config.dimensions):
            yield Case(dimension, plane)
    for plane in range(config.planes):
        for first in range(0, config.cores, rows):
            yield Case(None, plane, first)


def patterns(config: Config) -> IntArray:
    """Payloads as bits, (rows, data_width): all equal, then any two bits differ in some row.

    No more rows than a buffer of accumulators has.
    """
    lane = np.arange(config.data_width)
    halves = [lane >> bit & 1 for bit in range((config.data_width - 1).bit_length())]
    rows = [np.zeros_like(lane), *halves]
    rows = [bits ^ inverse for bits in rows for inverse in (0, 1)]
    return np.array(rows[:config.accumulator_rows])


def words_of(core: int, config: Config) -> IntArray:
    """The rows that a core sends, (rows, lanes) elements; every core's are different."""
    own = np.random.default_rng(core).integers(0, 2, config.data_width)
    bits = np.packbits(patterns(config) ^ own, axis=1, bitorder="little")
    return bits.view(f"<i{config.element_width // 8}").astype(np.int64)


def _send_list(case: Case, rows: int, config: Config) -> Words:
    record = case.destinations(config) | case.plane << config.cores
    octets = record.to_bytes(config.send_record_width // 8, "little")
    return pack_records(np.frombuffer(octets * rows, dtype=np.uint8), config)


def messages_of(case: Case, rows: int, config: Config) -> tuple[Words, Words]:
    """Send list, and edge set that follows it, of all cores: both (words, chunks) ``uint32``."""
    lists = _send_list(case, rows, config)
    return lists, _edge_set(case, rows, len(lists), config)


def _edge_set(case: Case, rows: int, address: int, config: Config) -> Words:
    """The edges of a core, as they look at ``address``; only wanted rows have weight 1."""
    sources = case.sources(config, rows)
    senders = range(config.cores) if case.dimension is None else [1 << case.dimension]
    header = np.zeros((2 + 2 * config.streams,), dtype="<u4")
    header[0] = rows * len(senders)
    parts = [pack_records(header, config)]
    place = address + len(parts[0])
    for sender in senders:
        records = np.arange(rows, dtype=np.uint32) << np.uint32(16) | np.uint32(1 << 31)
        records |= np.array(sources) == sender
        records[-1] |= np.uint32(1 << 30)
        words = pack_records(records.astype("<u4"), config)
        stream = 2 + 2 * (case.plane * config.cores + sender)
        header[stream:stream + 2] = place, len(words)
        place += len(words)
        parts.append(words)
    return np.concatenate([pack_records(header, config), *parts[1:]])
