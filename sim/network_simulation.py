# SPDX-License-Identifier: BSD-2-Clause
"""The network without its cores, compiled: messages in, deliveries out."""

import ctypes
import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.errors import InputError
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.sim.faults import Fault, FaultRecord, fault_record
from hypercast.sim.library import load_library
from hypercast.sim.network_build import build_network
from hypercast.sim.network_waves import write_waves
from hypercast.sim.waves import Waves

__all__ = ["Ending", "NetworkRun", "NetworkSimulation", "Watchdogs", "narrow"]

#: Cycle of an event that did not happen.
_NEVER = np.iinfo(np.uint64).max
#: Message number of a flit that nobody sent.
_UNKNOWN = np.iinfo(np.uint32).max
#: Deliveries that are recorded beyond the expected number before a run is ended.
_SURPLUS = 1024

_DELIVERY = np.dtype([("cycle", "<u8"), ("message", "<u4"), ("core", "<u2"), ("port", "<u2")])


class Ending(enum.IntEnum):
    """Why a run ended: ``DONE``, a watchdog, or more deliveries than there could be."""

    DONE = 0
    IDLE = 1
    AGE = 2
    TOTAL = 3
    SURPLUS = 4


@dataclass(frozen=True, kw_only=True)
class Watchdogs:
    """Limits, in cycles, that end a run.

    Parameters
    ----------
    idle : int
        Without any movement although a flit is in the network or offered.
    age : int
        From a message's injection to the last of its deliveries.
    total : int
        From the beginning to the end of the run.
    """

    idle: int = 1_000
    age: int = 100_000
    total: int = 10_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkRun:
    """The deliveries of a run, and how it ended.

    Attributes
    ----------
    ending : Ending
        Why it ended.
    cycles : int
        Cycles until everything was delivered, the first injection in cycle 0; all simulated cycles,
        if not everything was delivered.
    injected : (M,) numpy.ndarray of int64
        Cycle in which each message entered the network; -1 if it did not.
    message, core, port, cycle : (deliveries,) numpy.ndarray of int64
        Every delivery, in order: the message (-1 if the flit is not as it was sent, or not where
        it was sent to), receiving core, its ejection port, and the cycle.
    link_flits : (cores, dimensions) numpy.ndarray of int64
        Flits sent along each link, by sending core.
    faults : (cores, dimensions) numpy.ndarray of int64
        Cycles in which each link's receiving router reported a fault, by receiving core.
    peak_queue : int
        Most messages that waited at one source.
    """

    ending: Ending
    cycles: int
    injected: npt.NDArray[np.int64]
    message: npt.NDArray[np.int64]
    core: npt.NDArray[np.int64]
    port: npt.NDArray[np.int64]
    cycle: npt.NDArray[np.int64]
    link_flits: npt.NDArray[np.int64]
    faults: npt.NDArray[np.int64]
    peak_queue: int


#: Takes a piece of a VCD file.
_WAVES = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)


class _Job(ctypes.Structure):
    _fields_ = [
        ("messages", ctypes.c_uint64), ("created", ctypes.c_void_p),
        ("destinations", ctypes.c_void_p), ("source", ctypes.c_void_p), ("plane", ctypes.c_void_p),
        ("faults", ctypes.c_uint64), ("fault", ctypes.c_void_p),
        ("seed", ctypes.c_uint64), ("ready", ctypes.c_uint64),
        ("idle_limit", ctypes.c_uint64), ("age_limit", ctypes.c_uint64),
        ("cycle_limit", ctypes.c_uint64), ("waves_first", ctypes.c_uint64),
        ("waves_last", ctypes.c_uint64), ("waves_cores", ctypes.c_uint64),
        ("waves", _WAVES)]


class _Record(ctypes.Structure):
    _fields_ = [
        ("injected", ctypes.c_void_p), ("capacity", ctypes.c_uint64),
        ("delivery", ctypes.c_void_p), ("link_flits", ctypes.c_void_p),
        ("faults", ctypes.c_void_p), ("deliveries", ctypes.c_uint64),
        ("cycles", ctypes.c_uint64), ("peak_queue", ctypes.c_uint64)]


def narrow(config: Config) -> Config:
    """``config`` with the narrowest words, the fastest to simulate: a million messages at most."""
    return config.replace(lanes=2, element_width=8, accumulator_rows=16, weight_rows=16)


class NetworkSimulation:
    """Routers and links, simulated by CXXRTL.

    Parameters
    ----------
    config : Config
        Configuration of the chip; its network is compiled first if need be.
    watched : bool
        Whether runs can write waveforms; that is slower.
    progress : callable
        Called with a line of text before each slow step of the build.
    """

    def __init__(self, config: Config, *, watched: bool = False,
                 progress: Callable[[str], None] = lambda text: None) -> None:
        self._config = config
        self._watched = watched
        self._flit_width = flit(config).size
        library = load_library(build_network(
            config, watched=watched, progress=progress), "hypercast_network_", {
            "run": (ctypes.c_int, [ctypes.POINTER(_Job), ctypes.POINTER(_Record)])})
        self._run = library.hypercast_network_run

    def run(self, source: npt.ArrayLike, destinations: npt.ArrayLike, plane: npt.ArrayLike, *,
            created: npt.ArrayLike | None = None, ready: float = 1.0, seed: int = 0,
            watchdogs: Watchdogs = Watchdogs(), faults: Sequence[Fault] = (),
            waves: Waves | None = None) -> NetworkRun:
        """Send messages, from reset, until all are delivered or a watchdog barks.

        Parameters
        ----------
        source, destinations, plane : (M,) array of int
            Sending core, destinations relative to it, and plane of each message. A core injects
            its messages in this order, at most one per cycle.
        created : (M,) array of int, optional
            Cycle from which on each may be injected; in order for each source. By default all are
            there from the beginning.
        ready : float
            Probability with which an ejection port is ready in a cycle.
        seed : int
            Seed of the ejection ports' readiness.
        watchdogs : Watchdogs
            Limits of the run.
        faults : sequence of Fault
            Faults of links.
        waves : Waves, optional
            Waveforms of the routers to write, if they are watched; cycles count as in the result.

        Returns
        -------
        NetworkRun What happened.

        Raises
        ------
        InputError
            If a message, a fault, ``ready`` or a core of ``waves`` is not possible in this network.
        OSError
            If waveforms cannot be written.
        """
        if waves:
            if not self._watched:
                raise InputError("only a network that was built as watched has waveforms")
            waves.check(self._config)
        self._check(ready)
        arrays = self._arrays(source, destinations, plane, created)
        count, config = len(arrays["source"]), self._config
        due = int(np.bitwise_count(arrays["destinations"]).sum())
        injected = np.zeros(count, dtype=np.uint64)
        delivery = np.zeros(due + _SURPLUS, dtype=_DELIVERY)
        flits, reported = np.zeros((2, config.cores, config.dimensions), dtype=np.uint64)
        fault = (FaultRecord * len(faults))(*(
            fault_record(one, config.dimensions, self._flit_width) for one in faults))
        job = _Job(messages=count, faults=len(faults), fault=ctypes.addressof(fault),
                   **{name: array.ctypes.data for name, array in arrays.items()},
                   seed=seed, ready=round(ready * 2**32), idle_limit=watchdogs.idle,
                   age_limit=watchdogs.age, cycle_limit=watchdogs.total)
        text: list[bytes] = []
        if waves:
            job.waves_first, job.waves_last = waves.first, waves.last
            job.waves_cores = sum(1 << core for core in waves.cores)
            job.waves = _WAVES(lambda data, size: text.append(ctypes.string_at(data, size)))
        record = _Record(injected=injected.ctypes.data, capacity=len(delivery),
                         delivery=delivery.ctypes.data, link_flits=flits.ctypes.data,
                         faults=reported.ctypes.data)
        ending = Ending(self._run(ctypes.byref(job), ctypes.byref(record)))
        if waves:
            write_waves(waves, b"".join(text), self._config)
        delivery = delivery[:record.deliveries]
        message = delivery["message"].astype(np.int64)
        return NetworkRun(
            ending=ending, cycles=record.cycles,
            injected=np.where(injected == _NEVER, -1, injected.astype(np.int64)),
            message=np.where(message == _UNKNOWN, -1, message),
            **{name: delivery[name].astype(np.int64) for name in ("core", "port", "cycle")},
            link_flits=flits.astype(np.int64), faults=reported.astype(np.int64),
            peak_queue=record.peak_queue)

    def _arrays(self, source: npt.ArrayLike, destinations: npt.ArrayLike, plane: npt.ArrayLike,
                created: npt.ArrayLike | None) -> dict[str, npt.NDArray[np.unsignedinteger[Any]]]:
        """The messages as the harness reads them."""
        config, count = self._config, len(np.asarray(source))
        created = np.zeros(count, dtype=np.int64) if created is None else created
        arrays: dict[str, npt.NDArray[np.unsignedinteger[Any]]] = {}
        kind: type[np.unsignedinteger[Any]]
        for name, values, limit, kind in (
                ("source", source, config.cores, np.uint8),
                ("destinations", destinations, 1 << config.cores, np.uint64),
                ("plane", plane, config.planes, np.uint8),
                ("created", created, 1 << 63, np.uint64)):
            values = np.asarray(values)
            if values.shape != (count,):
                raise InputError(f"{name} has shape {values.shape}, but there are {count} "
                                 f"messages; give one number each")
            for bad in (values.min(initial=0), values.max(initial=0)):
                if not 0 <= int(bad) < limit:
                    raise InputError(f"{name} must be at least 0 and below {limit}, not {bad}")
            arrays[name] = np.ascontiguousarray(values, dtype=kind)
        most = 1 << min(config.index_width + config.data_width, 31)
        if count > most:
            raise InputError(f"there are {count} messages, but flits of this configuration can "
                             f"tell {most} apart; raise element_width or lanes")
        order = np.argsort(arrays["source"], kind="stable")
        sources, times = arrays["source"][order], arrays["created"][order].astype(np.int64)
        if np.any((np.diff(times) < 0) & (sources[1:] == sources[:-1])):
            raise InputError("created must be in order for each source; sort the messages by it")
        return arrays

    @staticmethod
    def _check(ready: float) -> None:
        if not 0 < ready <= 1:
            raise InputError(f"ready must be above 0 and at most 1, not {ready}")
