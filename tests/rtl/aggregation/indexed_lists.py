# SPDX-License-Identifier: BSD-2-Clause
"""Random indexed send lists, and what must be read for them."""

from dataclasses import dataclass

__all__ = ["Record", "random_records", "rows_read"]


@dataclass(frozen=True)
class Record:
    """A record of an indexed send list."""

    destinations: int
    plane: int
    skip: int

    def bits(self, config):
        """As it lies in memory."""
        return self.destinations | self.plane << config.cores | self.skip << config.cores + 2


def random_records(config, count, rng, *, empty=0.3, longest=9):
    """``count`` records, of which a part has no destinations; skips are 0 to ``longest``."""
    return [Record(
        destinations=0 if rng.random() < empty else int.from_bytes(rng.bytes(8), "little")
        % ((1 << config.cores) - 1) + 1,
        plane=int(rng.integers(config.planes)),
        skip=int(rng.choice([0, 1, 1, int(rng.integers(longest + 1))])))
        for _ in range(count)]


def rows_read(address, records):
    """Destinations, plane and address of each row that is sent of a list, in order."""
    found = []
    for record in records:
        address += record.skip
        if record.destinations:
            found.append((record.destinations, record.plane, address))
    return found
