# SPDX-License-Identifier: BSD-2-Clause
"""One process's part of a run: when, by which command, and for how long."""

import contextlib
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from hypercast.errors import require
from hypercast.host.files.reading.json_file import read_json

__all__ = ["ProcessRecord", "Stopwatch", "read_process_records"]

_EPOCHS = range(1, 1 << 63)
#: Longer than anyone trains.
_SECONDS = 1e12


class ProcessRecord(NamedTuple):
    """One process's part of a run.

    Attributes
    ----------
    command : str
        The command line that started it; empty if it was started from Python.
    begun : str
        When its first epoch began, as ISO 8601 has it, in UTC.
    version : str
        Version of Hypercast.
    device : str
        Where it trained.
    first : int
        The first epoch that it trained, from 1.
    last : int or None
        The last one; None until the process comes to its end, so also if it was killed.
    seconds : float or None
        What the epochs took; None as for ``last``.
    """

    command: str
    begun: str
    version: str
    device: str
    first: int
    last: int | None
    seconds: float | None


class Stopwatch:
    """Measures epochs.

    Attributes
    ----------
    begun : datetime.datetime or None
        When the first one began, in UTC.
    seconds : float
        What they took together.
    """

    def __init__(self) -> None:
        self.begun: datetime | None = None
        self.seconds = 0.0

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Measure an epoch; an epoch that does not come to its end does not count."""
        self.begun = self.begun or datetime.now(UTC)
        start = time.monotonic()
        yield
        self.seconds += time.monotonic() - start


def read_process_records(path: Path) -> list[ProcessRecord]:
    """The records in a file, in order.

    Raises
    ------
    InputError
        If it is damaged.
    """
    found = read_json(path)
    require(isinstance(found, list), "it holds no list")
    return [_check(entry, f"process {number}") for number, entry in enumerate(found, 1)]


def _check(entry: Any, place: str) -> ProcessRecord:
    require(isinstance(entry, dict) and entry.keys() == {*ProcessRecord._fields},
            f"{place} has not just {', '.join(ProcessRecord._fields)}")
    record = ProcessRecord(**entry)
    for name in ("command", "begun", "version", "device"):
        require(isinstance(entry[name], str),
                f"{place}, {name} is {str(entry[name])[:40]}, no text")
    begun = datetime.fromisoformat(record.begun)
    require(begun.tzinfo == UTC, f"{place}, begun is {record.begun}, without the zone of UTC")
    for name in ("first", "last"):
        require((name == "last" and entry[name] is None)
                or (type(entry[name]) is int and entry[name] in _EPOCHS),
                f"{place}, {name} is {str(entry[name])[:40]}, no epoch")
    require((record.last is None) == (record.seconds is None),
            f"{place} has just one of last and seconds")
    if record.last is not None and record.seconds is not None:
        require(record.first <= record.last, f"{place} ends before it begins")
        require(type(record.seconds) in (int, float) and 0 <= record.seconds < _SECONDS,
                f"{place}, seconds is {str(record.seconds)[:40]}, no time")
    return record
