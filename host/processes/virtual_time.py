# SPDX-License-Identifier: BSD-2-Clause
"""The virtual time of a training: what the boards of a cluster would have taken."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from hypercast.host.files.durable_file import write_durably
from hypercast.host.processes.clock import BusyInterval
from hypercast.reference.sample import Sample

__all__ = ["LayerSeconds", "Seconds", "VirtualTime", "write_timeline"]


class LayerSeconds(NamedTuple):
    """Seconds of a layer's passes on a board."""

    forward: float
    backward: float


#: Gives the seconds of each layer on a board (by number, from 0), of a sample or a part of a graph.
Seconds: TypeAlias = Callable[[Sample, int], Sequence[LayerSeconds]]


@dataclass(frozen=True, kw_only=True)
class VirtualTime:
    """The time that the boards of a cluster would have taken.

    Parameters
    ----------
    steps : int
        Steps so far.
    boards : tuple of str
        Names of the boards.
    seconds : float
        Until the last board was done.
    computed, waited : tuple of float
        Seconds that each board computed, and waited for others.
    alone : float
        Seconds that the first board would have taken for all of it.
    intervals : tuple of BusyInterval
        The last step.
    """

    steps: int
    boards: tuple[str, ...]
    seconds: float
    computed: tuple[float, ...]
    waited: tuple[float, ...]
    alone: float
    intervals: tuple[BusyInterval, ...]

    def record(self) -> dict[str, Any]:
        """The fields for ``boards.json`` of a run, where the intervals are ``slots``."""
        record = asdict(self)
        record["slots"] = record.pop("intervals")
        return record

    def __str__(self) -> str:
        waits = ", ".join(f"{name} {waited / self.seconds:.1%}" for name, waited in zip(
            self.boards, self.waited, strict=True))
        return (f"on these boards, by their cycles and links: "
                f"{self.seconds / self.steps * 1e3:.4g} ms a step, "
                f"{self.alone / self.seconds:.2f} times as fast as {self.boards[0]} alone; of the "
                f"time boards waited for others: {waits}")


def write_timeline(path: Path, time: VirtualTime) -> None:
    """Write the last step as Chrome trace events, a track for each board and port in use.

    It opens in Perfetto (ui.perfetto.dev).
    """
    tracks = {name: number for number, name in enumerate(sorted({
        *time.boards, *(interval.track for interval in time.intervals)}), 1)}
    names = [{"name": "thread_name", "ph": "M", "pid": 1, "tid": number, "args": {"name": name}}
             for name, number in tracks.items()]
    slices = [{"name": interval.name, "ph": "X", "pid": 1, "tid": tracks[interval.track],
               "ts": interval.begin * 1e6, "dur": (interval.end - interval.begin) * 1e6}
              for interval in time.intervals]
    write_durably(path, json.dumps({
        "displayTimeUnit": "ns", "otherData": {"clock": "virtual: cycle model and links"},
        "traceEvents": [*names, *slices]}).encode())
