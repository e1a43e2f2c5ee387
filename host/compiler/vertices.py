# SPDX-License-Identifier: BSD-2-Clause
"""The vertices that tensors have rows of, in strips that fit the aggregators' accumulators."""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from hypercast.host.compiler.memory_map import CapacityError, find_shortage
from hypercast.rtl.config import Config
from hypercast.rtl.placement import rows_of

__all__ = ["RowTable", "Strip", "Vertices", "blocks_of", "strips_of"]


class RowTable:
    """Numbers of rows that each core has in its row table.

    They are of a level: a set of vertices, or of records; their number varies from sample to
    sample.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    """

    def __init__(self, config: Config) -> None:
        self._config, self._size, self._taken = config, config.row_counts, 0.0
        self._refused: dict[Hashable, float] = {}  # levels without room, to their ``each``
        self._levels: dict[Hashable, tuple[int, int]] = {}

    def entry(self, level: Hashable, rows: int, *, each: float = 1.0) -> int | None:
        """Entry of a level, which the first call gives it; None if there is none left.

        Parameters
        ----------
        level : hashable
            Names what is dealt to the cores.
        rows : int
            Rows of the largest core at most.
        each : float
            How many entries each one of the table stands for, in a model of a larger one.
        """
        if level not in self._levels:
            if self._taken >= self._size:
                return None
            self._taken += each
            self._levels[level] = len(self._levels), rows
        return self._levels[level][0]

    def has_room(self, levels: Collection[Hashable], *, each: float = 1.0) -> bool:
        """Whether all of some levels have an entry, or can have one; ``each`` as of ``entry``."""
        new = [level for level in levels if level not in self._levels]
        if self._taken + len(new) * each <= self._size:
            return True
        self._refused |= dict.fromkeys(new, each)
        return False

    @property
    def slowdown(self) -> CapacityError | None:
        """That there was no room for some levels, and with how many entries there would be."""
        return find_shortage(
            self._config, "row_counts", math.ceil(self._taken + sum(self._refused.values())),
            "with them, each strip's send list would name the rows that it needs; now all strips "
            "of a matrix walk all rows, which takes more cycles")

    def __len__(self) -> int:
        return len(self._levels)

    def rows(self, entry: int) -> range:
        """Rows of the largest core that an entry is of."""
        return range([rows for _, rows in self._levels.values()][entry])

    def counts(self, core: int, cores: int, vertices: Mapping[Hashable, int]) -> list[int]:
        """The row table of a core; ``vertices`` gives how many there are of a level."""
        return [min(rows_of(core, vertices[level], cores), rows)
                for level, (_, rows) in self._levels.items()]


@dataclass(frozen=True, kw_only=True)
class Strip:
    """Local rows that are processed together: ``first .. first + rows - 1``.

    AGGREGATE takes ``Config.strip_rows`` at most. The array takes ``Config.accumulator_rows`` at
    most: a *block* of a strip.

    Parameters
    ----------
    first, rows : int
        The rows, of the largest core.
    """

    first: int
    rows: int


def strips_of(count: int, config: Config) -> tuple[Strip, ...]:
    """The rows of the largest core in strips that are aggregated at once; one at least.

    Parameters
    ----------
    count : int
        Vertices, of all cores.
    config : Config
        Configuration of the chip.
    """
    rows, most = max(1, -(-count // config.cores)), config.strip_rows
    return tuple(Strip(first=first, rows=min(most, rows - first))
                 for first in range(0, rows, most))


def blocks_of(strips: Sequence[Strip], most: int, *, alike: bool = False) -> tuple[Strip, ...]:
    """The blocks of strips, of at most so many rows.

    If strips are to be ``alike``, each has as many as the first one, some of them empty.
    """
    return tuple(
        Strip(first=first, rows=max(0, min(most, strip.first + strip.rows - first)))
        for strip in strips for first in range(strip.first, strip.first + max(
            1, strips[0].rows if alike else strip.rows), most))


@dataclass(frozen=True, kw_only=True)
class Vertices:
    """The vertices that a tensor has rows of.

    Parameters
    ----------
    entry : int
        Row table entry that holds how many of them a core has.
    count : int
        How many there are.
    cores : int
        How many cores they are dealt to.
    strips : tuple of Strip
        The rows of the largest core, in strips that are aggregated at once.
    most : int
        Rows of a block at most: what fits the array's accumulators.
    """

    entry: int
    count: int
    cores: int
    strips: tuple[Strip, ...]
    most: int

    @classmethod
    def of(cls, count: int, config: Config, table: RowTable, level: Hashable | None = None) -> Self:
        """The vertices of a tensor on the chip of a configuration.

        Parameters
        ----------
        count : int
            How many there are at most.
        config : Config
            Configuration of the chip.
        table : RowTable
            Takes the entries.
        level : hashable
            Names the vertices in the table; by default their number does.

        Raises
        ------
        CapacityError
            If there is no entry left for all of them.
        """
        level = count if level is None else level
        strips = strips_of(count, config)
        entry = table.entry(level, sum(strip.rows for strip in strips))
        if entry is None:
            raise CapacityError(
                f"the row table has row_counts = {config.row_counts} entries, but layers of "
                f"different vertices need more; raise row_counts")
        return cls(entry=entry, count=count, cores=config.cores, strips=strips,
                   most=config.accumulator_rows)

    @classmethod
    def of_layers(cls, counts: Sequence[int], config: Config, table: RowTable,
                  levels: Sequence[Hashable] | None = None) -> tuple[Self, ...]:
        """The vertices of a network's input, and of every layer's output.

        Parameters
        ----------
        counts : sequence of int
            How many there are at most.
        config, table
            As in ``of``.
        levels : sequence of hashable, optional
            Name the vertices in the table; by default their numbers do.

        Raises
        ------
        CapacityError
            If there is no entry left for all of one.
        """
        return tuple(cls.of(count, config, table, level) for count, level in zip(
            counts, counts if levels is None else levels, strict=True))

    @cached_property
    def rows(self) -> int:
        """Rows of the largest core."""
        return sum(strip.rows for strip in self.strips)

    @cached_property
    def _blocks(self) -> tuple[tuple[Strip, ...], ...]:
        """The blocks of all rows, and of strips that are to be alike."""
        return tuple(blocks_of(self.strips, self.most, alike=alike) for alike in (False, True))

    def blocks(self, rows: Strip | None = None, *, alike: bool = False) -> tuple[Strip, ...]:
        """The blocks of a strip, or of a block, which is its own, or of all rows.

        If strips are to be ``alike``, each has as many as the first one, some of them empty.
        """
        return blocks_of([rows], self.most, alike=alike) if rows else self._blocks[alike]

    def count_of(self, strip: Strip) -> int:
        """Vertices of a strip, of all cores."""
        return max(0, min(strip.rows * self.cores, self.count - strip.first * self.cores))
