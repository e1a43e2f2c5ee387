# SPDX-License-Identifier: BSD-2-Clause
"""The compiled chip as a transport of the driver."""

import ctypes
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.host.transport.transport import Timeline, Transport, TransportError
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.registers import COUNTERS, Space
from hypercast.sim.back_door import BackDoor, Words
from hypercast.sim.chip_build import ELEMENTS, build_chip
from hypercast.sim.faults import Fault, FaultRecord, fault_record
from hypercast.sim.library import load_library
from hypercast.sim.processors import processors
from hypercast.sim.wave_writer import WaveWriter
from hypercast.sim.waves import Waves

__all__ = ["CxxrtlTransport"]

#: Cycles an AXI access may take; the chip itself answers within a few thousand.
_ACCESS_LIMIT = 20_000
_OKAY = 0
#: Window space of each memory that has a back door.
_SPACES = {"channel_0": Space.FEATURES, "channel_1": Space.GRADIENTS, "weights": Space.WEIGHTS}

#: An event that the recorder notes; as in the harness.
_EVENT = np.dtype([("cycle", "<u8"), ("source", "<u4"), ("value", "<u4")])


def _array(address: int, count: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """A copy of ``count`` elements in memory."""
    return np.frombuffer(ctypes.string_at(address, count * np.dtype(kind).itemsize), dtype=kind)


def _load(path: Path, *, bulk: bool) -> ctypes.CDLL:
    handle, size, address = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32
    transfer = [handle, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64]
    return load_library(path, "hypercast_", {
        **({"bulk_write": (ctypes.c_int, transfer), "bulk_read": (ctypes.c_int, transfer)}
           if bulk else {}),
        "cycle": (ctypes.c_uint64, [handle]),
        "create": (handle, [size]),
        "destroy": (None, [handle]),
        "reset": (None, [handle, ctypes.c_uint64]),
        "advance": (None, [handle, ctypes.c_uint64]),
        "fault": (None, [handle, ctypes.POINTER(FaultRecord)]),
        "write": (ctypes.c_int, [handle, address, ctypes.c_uint32, ctypes.c_uint64]),
        "read": (ctypes.c_int,
                 [handle, address, ctypes.POINTER(ctypes.c_uint32), ctypes.c_uint64]),
        "record": (None, [handle, ctypes.c_bool]),
        "event_count": (size, [handle]),
        "events": (handle, [handle]),
        "samples": (handle, [handle]),
        "watch": (None, [handle, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_bool,
                         ctypes.c_uint32]),
        "watch_count": (size, [handle]),
        "watch_cycles": (handle, [handle]),
        "watch_size": (size, [handle]),
        "watch_samples": (handle, [handle]),
        "watch_clear": (None, [handle]),
        "watch_control_count": (size, [handle]),
        "watch_control_name": (ctypes.c_char_p, [handle, size]),
        "watch_control_width": (size, [handle, size]),
        "signals": (ctypes.c_char_p, []),
        "memory_count": (size, [handle]),
        "memory_name": (ctypes.c_char_p, [handle, size]),
        "memory_width": (size, [handle, size]),
        "memory_depth": (size, [handle, size]),
        "memory_data": (ctypes.POINTER(ctypes.c_uint32), [handle, size]),
    })


class CxxrtlTransport(Transport):
    """A chip simulated by CXXRTL.

    Parameters
    ----------
    config : Config
        Configuration of the chip; it is compiled first if need be.
    threads : int, optional
        How many evaluate the cores; otherwise as many as there are processors.
    waves : Waves, optional
        Waveforms to be written.
    bulk : bool
        Whether the chip has a bulk port, which is then the way to its memories instead of the back
        door.
    progress : callable
        Called with a line of text before each slow step of the build.
    """

    def __init__(self, config: Config, *, threads: int | None = None, waves: Waves | None = None,
                 bulk: bool = False, progress: Callable[[str], None] = lambda text: None) -> None:
        if waves:
            waves.check(config)
        self._config = config
        self._waves = waves
        self._writer: WaveWriter | None = None
        self._bulk = bulk
        self._library = _load(build_chip(config, watched=waves is not None, bulk=bulk,
                                         progress=progress), bulk=bulk)
        self._handle = self._library.hypercast_create(threads or processors())
        self._memories = self._find_memories(config)
        if waves and not waves.of_step:
            self._watch(waves)

    def _find_memories(self, config: Config) -> dict[tuple[int, int], BackDoor]:
        pattern = re.compile(
            r"core_(\d+) (channel_0|channel_1|weights)(?: bank)? storage(_\d+)? with_parity$")
        found: dict[tuple[int, Space], dict[int, Words]] = {}
        for name, (words, _) in self.contents().items():
            if match := pattern.match(name):
                key = int(match[1]), _SPACES[match[2]]
                found.setdefault(key, {})[int((match[3] or "_0")[1:])] = words
        count = sum(len(banks) for banks in found.values())
        expected = (2 + config.eject) * config.cores
        if count != expected:
            raise TransportError(f"found {count} memories to load in the compiled chip, "
                                 f"not {expected}")
        return {(core, space): BackDoor(
            f"{space.name} of core {core}", [banks[number] for number in sorted(banks)],
            config.data_width if space == Space.WEIGHTS else config.word_width, config.chunks)
            for (core, space), banks in found.items()}

    def contents(self) -> dict[str, tuple[Words, int]]:
        """All memories of the chip, so that faults can be put into them.

        Returns
        -------
        dict
            Name in the hierarchy to contents, a writable (words, pieces) view of ``uint32``, and
            bits of a word.
        """
        library, found = self._library, {}
        for index in range(library.hypercast_memory_count(self._handle)):
            width = library.hypercast_memory_width(self._handle, index)
            shape = library.hypercast_memory_depth(self._handle, index), -(-width // 32)
            words = np.ctypeslib.as_array(
                library.hypercast_memory_data(self._handle, index), shape=shape)
            found[library.hypercast_memory_name(self._handle, index).decode()] = words, width
        return found

    def read(self, address: int) -> int:
        value = ctypes.c_uint32()
        code = self._library.hypercast_read(
            self._handle, address, ctypes.byref(value), _ACCESS_LIMIT)
        self._check(code, "read", address)
        return value.value

    def write(self, address: int, value: int) -> None:
        code = self._library.hypercast_write(self._handle, address, value, _ACCESS_LIMIT)
        self._check(code, "write", address)

    @staticmethod
    def _check(code: int, what: str, address: int) -> None:
        if code != _OKAY:
            reason = "did not end" if code < 0 else f"was refused with response {code}"
            raise TransportError(f"AXI {what} at {address:#x} {reason}")

    @property
    def cycle(self) -> int:
        """Cycles that were simulated, whatever the chip did."""
        return int(self._library.hypercast_cycle(self._handle))

    @property
    def bulk(self) -> bool:
        return self._bulk

    def write_bulk(self, address: int, data: bytes) -> None:
        code = self._library.hypercast_bulk_write(
            self._handle, address, data, len(data), _ACCESS_LIMIT)
        self._check(code, "bulk write", address)

    def read_bulk(self, address: int, size: int) -> bytes:
        data = ctypes.create_string_buffer(size)
        code = self._library.hypercast_bulk_read(
            self._handle, address, data, size, _ACCESS_LIMIT)
        self._check(code, "bulk read", address)
        return data.raw

    def wait(self, cycles: int) -> None:
        self._library.hypercast_advance(self._handle, cycles)
        self._write_waves()

    def _watch(self, waves: Waves) -> None:
        """Begin to note the signals that are to be written."""
        library = self._library
        members = min(ELEMENTS, self._config.cores)
        groups = sum(1 << group for group in {core // members for core in waves.cores})
        library.hypercast_watch(self._handle, waves.first, waves.last, waves.of_step, groups)
        control = [(library.hypercast_watch_control_name(self._handle, index).decode(),
                    library.hypercast_watch_control_width(self._handle, index))
                   for index in range(library.hypercast_watch_control_count(self._handle))]
        own = sum(-(-width // 32) * 4 for _, width in control)
        self._writer = WaveWriter(
            waves, json.loads(library.hypercast_signals()), control, elements=ELEMENTS,
            members=members,
            size=(library.hypercast_watch_size(self._handle) - own) // groups.bit_count())

    def _write_waves(self) -> None:
        """Write the noted samples, and forget them."""
        library, handle = self._library, self._handle
        if self._writer and (count := library.hypercast_watch_count(handle)):
            size = library.hypercast_watch_size(handle)
            self._writer.add(
                _array(library.hypercast_watch_cycles(handle), count, "<u8"),
                _array(library.hypercast_watch_samples(handle), count * size, "u1").reshape(
                    count, size))
            library.hypercast_watch_clear(handle)

    def reset(self) -> None:
        """Reset the chip, whatever it is doing; its memories do not change."""
        self._library.hypercast_reset(self._handle, self._config.reset_cycles)

    def inject(self, fault: Fault) -> None:
        """Make a link faulty; the fault's cycle is counted from now.

        Parameters
        ----------
        fault : Fault
            The fault.
        """
        record = fault_record(fault, self._config.dimensions, flit(self._config).size)
        self._library.hypercast_fault(self._handle, ctypes.byref(record))

    def record(self) -> None:
        self._library.hypercast_record(self._handle, True)
        if self._waves and self._waves.of_step:
            self._watch(self._waves)

    def timeline(self) -> Timeline:
        cores, library, handle = self._config.cores, self._library, self._handle
        events = _array(library.hypercast_events(handle),
                        library.hypercast_event_count(handle), _EVENT)
        issued = events["source"] == cores
        shape = int(issued.sum()), cores, len(COUNTERS)
        samples = _array(library.hypercast_samples(handle), int(np.prod(shape)), "<u4")
        library.hypercast_record(handle, False)
        return Timeline(
            cycle=events["cycle"][~issued].astype(np.int64), core=events["source"][~issued],
            busy=events["value"][~issued], issue_cycle=events["cycle"][issued].astype(np.int64),
            issued=events["value"][issued], counters=samples.reshape(shape))

    def memory(self, core: int, space: int) -> BackDoor | None:
        return None if self._bulk else self._memories[core, space]

    def close(self) -> None:
        if self._handle:
            self._memories.clear()
            self._write_waves()
            self._library.hypercast_destroy(self._handle)
            self._handle = None
            if self._writer:
                self._writer.close()
            if waves := self._waves:
                if not (self._writer and self._writer.cycles):
                    raise TransportError(
                        f"no cycle from {waves.first} to {waves.last} was simulated, so there are "
                        f"no waveforms in {waves.file}; give earlier ones with --wave-cycles")
