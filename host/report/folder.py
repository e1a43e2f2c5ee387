# SPDX-License-Identifier: BSD-2-Clause
"""A run as the report shows it."""

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hypercast.host.compiler.phase_name import PhaseName
from hypercast.host.files.reading.arrays import opened_archive
from hypercast.host.files.reading.json_file import read_json
from hypercast.host.processes.clock import BusyInterval
from hypercast.host.processes.virtual_time import VirtualTime
from hypercast.host.report.checks import (
    check_boards,
    check_numbers,
    check_records,
    check_run,
    check_slices,
    check_step,
)
from hypercast.host.runtime.timeline import CountedPhase, Slices
from hypercast.host.training.numbers import TensorNumbers
from hypercast.host.training.process_record import ProcessRecord
from hypercast.host.training.run_folder import (
    BOARDS,
    EPOCHS,
    NUMBERS,
    RUN,
    SESSIONS,
    SLICES,
    STEP,
    Record,
    RunError,
    RunFolder,
)
from hypercast.rtl.config import Config

__all__ = ["Run", "load_run"]

#: Files that a report can do without, and what is to be removed then.
_OPTIONAL = {NUMBERS: NUMBERS, BOARDS: BOARDS, STEP: STEP, SLICES: STEP}


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run, as it was kept.

    Parameters
    ----------
    facts : dict
        What was trained, and how.
    config : Config
        Configuration of the chip.
    memory : dict
        Name of each memory to its (name, first word, words) regions; empty without a chip.
    epochs : list of dict
        Metrics, ``saturations`` and ``exponents`` of every epoch.
    step, cycles : int
        Number, from 1, of the training step that was recorded, and its cycles; 0 if there is none.
    phases : list of CountedPhase
        The step's phases.
    slices : Slices or None
        When its engines were busy; ``instruction`` is the number of the phase.
    numbers : list of TensorNumbers
        Numbers of the step after the last one.
    boards : VirtualTime or None
        What the boards of a cluster would have taken.
    best : int
        Number, from 1, of the epoch whose weights are kept; 0 if that is the last one.
    processes : list of ProcessRecord
        What each process did of it.
    """

    facts: dict[str, Any]
    config: Config
    memory: dict[str, list[tuple[str, int, int]]]
    epochs: list[Record]
    step: int = 0
    cycles: int = 0
    phases: list[CountedPhase] = field(default_factory=list)
    slices: Slices | None = None
    numbers: list[TensorNumbers] = field(default_factory=list)
    boards: VirtualTime | None = None
    best: int = 0
    processes: list[ProcessRecord] = field(default_factory=list)

    @property
    def result(self) -> Record | None:
        """The record of the epoch whose weights are kept; None if there is no epoch."""
        return self.epochs[self.best - 1] if self.epochs else None

    def counters(self) -> dict[str, list[int]]:
        """Counter name to a value per core, over the whole step."""
        return {name: np.sum([phase.counters[name] for phase in self.phases], axis=0).tolist()
                for name in self.phases[0].counters}


def load_run(folder: str | PathLike[str]) -> Run:
    """The ``Run`` in a folder.

    Raises
    ------
    RunError
        If there is none, or a file is damaged.
    """
    folder = Path(folder)
    name = RunFolder(folder).description_path.name
    try:
        name = RUN
        run = read_json(folder / RUN)
        check_run(run)
        config = Config(**run["config"])
        name = EPOCHS
        kept = RunFolder(folder)
        epochs = kept.records()
        check_records(epochs)
        step: dict[str, Any] = {}
        if kept.has_checkpoint:
            checkpoint = kept.load_checkpoint()
            kept.records_of(checkpoint)  # are what they were when it was written
            step["best"] = checkpoint.best.step if checkpoint.best else 0
        name = SESSIONS
        step["processes"] = kept.process_records()
        if (folder / STEP).exists():
            name = STEP
            step = read_json(folder / STEP)
            check_step(step, config.cores)
            name = SLICES
            with opened_archive(folder / SLICES) as arrays:
                slices = {name: arrays[name] for name in Slices._fields}
            check_slices(slices, step, config.cores)
            step["slices"] = Slices(**slices)
            step["step"] = step.pop("number")
            step["phases"] = [
                CountedPhase(**{**phase, "name": PhaseName.read(phase["name"])})
                for phase in step["phases"]]
        if (folder / NUMBERS).exists():
            name = NUMBERS
            numbers = read_json(folder / NUMBERS)
            check_numbers(numbers)
            step["numbers"] = [TensorNumbers(**tensor) for tensor in numbers]
        if (folder / BOARDS).exists():
            name = BOARDS
            boards = read_json(folder / BOARDS)
            check_boards(boards)
            intervals = tuple(BusyInterval(*interval) for interval in boards.pop("slots"))
            step["boards"] = VirtualTime(**boards | {
                key: tuple(boards[key]) for key in ("boards", "computed", "waited")},
                intervals=intervals)
        return Run(facts=run["facts"], config=config, memory=run["memory"],
                   epochs=epochs, **step)
    except (OSError, KeyError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, RunError):  # which says what to do
            raise
        remedy = f"remove {folder / _OPTIONAL[name]}, and the report is without it" \
            if name in _OPTIONAL else f"run hypercast train --run {folder} again"
        raise RunError(f"{folder / name} cannot be read ({error}); {remedy}") from error
