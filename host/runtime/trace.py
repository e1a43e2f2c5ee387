# SPDX-License-Identifier: BSD-2-Clause
"""Writes a run as a Chrome trace event file, which opens in Perfetto (ui.perfetto.dev).

The format is the JSON one of "Trace Event Format" (Google, 2016): complete events (``X``),
counters (``C``) and metadata (``M``). Times are microseconds at ``CLOCK_MHZ``: a cycle is 4 ns.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np

from hypercast.host.files.durable_file import write_durably
from hypercast.host.runtime.timeline import IssuedInstruction, Profile
from hypercast.host.runtime.utilisation import utilisation
from hypercast.reference.array_types import FloatArray, IntArray
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Engine

__all__ = ["CLOCK_MHZ", "trace_events", "write_trace"]

Event: TypeAlias = dict[str, object]

#: Clock that cycles are converted to time with; assumed, not measured.
CLOCK_MHZ = 250
#: Process of the program; the counters have the next process, the cores the processes after it.
_PROGRAM, _COUNTERS, _CORES = 1, 2, 3
#: Threads of the program.
_PHASES, _WAITING = 1, 2


def write_trace(path: Path, profile: Profile, config: Config) -> None:
    """Write a run to a file.

    Parameters
    ----------
    path : pathlib.Path
        The file, usually ``.json``.
    profile : Profile
        The run.
    config : Config
        Configuration of the chip.
    """
    write_durably(path, json.dumps({
        "displayTimeUnit": "ns",
        "otherData": {"clock": f"{CLOCK_MHZ} MHz, assumed", "cycles": profile.cycles},
        "traceEvents": list(trace_events(profile, config))}).encode())


def trace_events(profile: Profile, config: Config) -> Iterator[Event]:
    """The events of a run, as dictionaries.

    The program's process has a slice for each stretch of a phase, and one from each instruction's
    issue to the next, named by the instruction that was then waiting. Each core is a process with
    a thread per engine and a slice per instruction. A counter for each resource has its
    utilisation in percent, from issue to issue, averaged over the cores.
    """
    yield from _names(_PROGRAM, "program", {_PHASES: "phase", _WAITING: "next instruction"})
    yield from _names(_COUNTERS, "utilisation, mean over cores", {})
    for core in range(config.cores):
        yield from _names(_CORES + core, f"core {core}", {
            _thread(core, engine): engine.name.lower() for engine in Engine})
    yield from _program(profile)
    yield from _counters(profile, config)
    for core, engine, start, end, number in zip(*map(list, profile.slices), strict=True):
        yield _slice(_CORES + core, _thread(core, engine), start, end,
                     profile.instructions[number])


def _time(cycles: int) -> float:
    """Cycles as microseconds, with whole nanoseconds."""
    return round(int(cycles) / CLOCK_MHZ, 3)


def _thread(core: int, engine: Engine) -> int:
    """Perfetto wants a thread's number to be unique over all processes, and not zero."""
    return int((_CORES + core) * len(Engine) + engine)


def _names(process: int, name: str, threads: Mapping[int, str]) -> Iterator[Event]:
    common = {"ph": "M", "ts": 0, "pid": process}
    yield {**common, "tid": 0, "name": "process_name", "args": {"name": name}}
    yield {**common, "tid": 0, "name": "process_sort_index", "args": {"sort_index": process}}
    for order, (thread, label) in enumerate(threads.items()):
        yield {**common, "tid": thread, "name": "thread_name", "args": {"name": label}}
        yield {**common, "tid": thread, "name": "thread_sort_index", "args": {"sort_index": order}}


def _slice(process: int, thread: int, start: int, end: int, instruction: IssuedInstruction,
           name: str | None = None, **arguments: str) -> Event:
    phase = instruction.phase
    layers = phase.layers if phase.last else phase.layer
    return {"ph": "X", "pid": int(process), "tid": int(thread), "ts": _time(start),
            "dur": _time(end - start), "name": name or instruction.name, "cat": phase.kind,
            "args": {"phase": phase.kind, **({"layer": layers} if layers else {}),
                     "program row": instruction.row, "issued in cycle": instruction.cycle,
                     **arguments}}


def _program(profile: Profile) -> Iterator[Event]:
    instructions, first = profile.instructions, 0
    ends = [*(following.cycle for following in instructions[1:]), profile.cycles]
    for number, (instruction, end) in enumerate(zip(instructions, ends, strict=True)):
        following = instructions[number + 1] if number + 1 < len(instructions) else None
        if following is None or following.phase != instruction.phase:
            yield _slice(_PROGRAM, _PHASES, instructions[first].cycle, end, instruction,
                         name=str(instruction.phase))
            first = number + 1
        if following:
            waits = following.fields["waits"]
            yield _slice(_PROGRAM, _WAITING, instruction.cycle, end, following, waits=", ".join(
                engine.name.lower() for engine in Engine if waits >> engine & 1) or "own engine")


def _counters(profile: Profile, config: Config) -> Iterator[Event]:
    starts = [instruction.cycle for instruction in profile.instructions]
    lengths = np.diff([*starts, profile.cycles])
    spans = [utilisation(instruction.counters, 1, config) for instruction in profile.instructions]
    for number, row in enumerate(spans[0] if spans else ()):
        # In cycles' worth of work.
        work = _in_time(np.array([rows[number].work for rows in spans]), lengths)
        for start, length, done in zip(starts, lengths, work, strict=True):
            if length:
                yield {"ph": "C", "pid": _COUNTERS, "tid": 0, "ts": _time(start),
                       "name": row.name, "args": {"percent": round(float(100 * done / length), 1)}}


def _in_time(work: FloatArray, lengths: IntArray) -> FloatArray:
    """Work of spans of time; no span has more than its length.

    A word is counted some cycles after it moved: words that a span has no room for belong to the
    span before.
    """
    work = work.copy()
    for number in range(len(work) - 1, 0, -1):
        late = max(work[number] - lengths[number], 0)
        work[number] -= late
        work[number - 1] += late
    return work
