# SPDX-License-Identifier: BSD-2-Clause
"""Values that are asked for again: kept in memory, then in a file, at most so much in each."""

import pickle
import tempfile
import threading
from collections.abc import Callable, Hashable
from typing import BinaryIO, Generic, TypeVar

__all__ = ["KeptValues"]

Value = TypeVar("Value")

#: Most bytes that are kept in memory, and in the file.
_MEMORY, _FILE = 1 << 30, 8 << 30


class KeptValues(Generic[Value]):
    """Makes a value the first time that it is asked for, and keeps it; any thread may ask.

    It is for a pool whose members come in another order each time, all of them before one comes
    again. So what is kept never makes place for others: what there is no room for is made every
    time. The file is a temporary one without a name; it goes with the process. If it cannot be
    written, there is no room in it.

    Parameters
    ----------
    memory, file : int
        Most bytes that are kept in memory, and in the file.
    """

    def __init__(self, memory: int = _MEMORY, file: int = _FILE) -> None:
        self._room, self._file_room = memory, file
        self._memory: dict[Hashable, bytes] = {}
        self._places: dict[Hashable, tuple[int, int]] = {}
        self._file: BinaryIO | None = None
        self._lock = threading.Lock()

    def value_of(self, key: Hashable, made: Callable[[], Value]) -> Value:
        """The value that ``made`` gives, now or when it was first asked for with this key."""
        with self._lock:
            octets = self._memory.get(key) or self._read(key)
        if octets is not None:
            kept: Value = pickle.loads(octets)
            return kept
        value = made()
        octets = pickle.dumps(value, protocol=5)
        with self._lock:
            if key not in self._memory and key not in self._places:
                self._keep(key, octets)
        return value

    def _keep(self, key: Hashable, octets: bytes) -> None:
        if len(octets) <= self._room:
            self._room -= len(octets)
            self._memory[key] = octets
        elif len(octets) <= self._file_room:
            try:
                self._file = self._file or tempfile.TemporaryFile()
                place = self._file.seek(0, 2)
                self._file.write(octets)
                self._file.flush()
            except OSError:  # no folder for it, or a full disk
                self._file_room = 0
                return
            self._file_room -= len(octets)
            self._places[key] = place, len(octets)

    def _read(self, key: Hashable) -> bytes | None:
        place, size = self._places.get(key, (0, 0))
        if not size or not self._file:
            return None
        try:
            self._file.seek(place)
            octets = self._file.read(size)
        except OSError:
            return None
        return octets if len(octets) == size else None
