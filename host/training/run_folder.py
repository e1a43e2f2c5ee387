# SPDX-License-Identifier: BSD-2-Clause
"""The folder of a run: its description, what happened in each epoch, and its checkpoint."""

import contextlib
import hashlib
import io
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from hypercast.errors import InputError
from hypercast.host.cluster.assignment import Assignment
from hypercast.host.compiler.job import Job
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import Description, load_description
from hypercast.host.description.source import Source
from hypercast.host.files.durable_file import (
    append_durably,
    flush_folder,
    remove_abandoned,
    require_writable,
    write_durably,
)
from hypercast.host.files.reading.json_file import read_json
from hypercast.host.files.reading.regular_file import FileError, read_bytes
from hypercast.host.processes.virtual_time import VirtualTime
from hypercast.host.runtime.timeline import Profile
from hypercast.host.runtime.trace import write_trace
from hypercast.host.training.checkpoint import Checkpoint, CheckpointError
from hypercast.host.training.checkpoint_file import load_checkpoint, save_checkpoint
from hypercast.host.training.folder_lock import LOCK, FolderLock
from hypercast.host.training.kept_staleness import assignment_of
from hypercast.host.training.numbers import TensorNumbers
from hypercast.host.training.process_record import ProcessRecord, read_process_records
from hypercast.reference.training_state import TrainingState
from hypercast.rtl.config import Config

__all__ = ["BOARDS", "EPOCHS", "NUMBERS", "REPORT", "RUN", "SESSIONS", "SLICES", "STEP", "Record",
           "RunError", "RunFolder", "RunWarning"]

#: Files that ``hypercast report`` draws.
RUN, EPOCHS, STEP, SLICES, NUMBERS, BOARDS, SESSIONS = (
    "run.json", "epochs.jsonl", "step.json", "slices.npz", "numbers.json", "boards.json",
    "sessions.json")
#: What it draws.
REPORT = "report.html"
#: The fact that says where the graph was.
_DATA = "data set"
_DESCRIPTION, _CHECKPOINT, _TRACE = "run.toml", "checkpoint.safetensors", "trace.json"
#: All of them, the description first.
_FILES = (_DESCRIPTION, _CHECKPOINT, RUN, EPOCHS, STEP, SLICES, NUMBERS, BOARDS, SESSIONS, _TRACE,
          REPORT)
#: Initial weights, if they came from a file; with its suffix.
_WEIGHTS = "initial_weights"


#: What is kept of an epoch, as JSON holds it: numbers by name, and ``exponents`` by tensor.
Record: TypeAlias = dict[str, Any]


class RunError(InputError):
    """A folder holds no run, or a damaged one; says which file, and what to do."""


class RunWarning(UserWarning):
    """A run goes on in another way than its folder lets expect."""


class RunFolder:
    """Where a run is kept.

    Parameters
    ----------
    folder : pathlib.Path or str
        The folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self._recorded = hashlib.sha256()  # what is recorded of the epochs so far
        self._earlier: list[ProcessRecord] = []  # of the run that goes on
        self._lock: FolderLock | None = None

    # Reading.

    @property
    def checkpoint_path(self) -> Path:
        """The checkpoint's file."""
        return self._folder / _CHECKPOINT

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is one."""
        return self.checkpoint_path.exists()

    @property
    def description_path(self) -> Path:
        """The description's file.

        Raises
        ------
        RunError
            If there is none.
        """
        path = self._folder / _DESCRIPTION
        if not path.exists():
            raise RunError(f"{self._folder} holds no run (there is no {_DESCRIPTION}); make one by "
                           f"hypercast train --run {self._folder}")
        return path

    def description(self, changes: Mapping[str, dict[str, Any]] | None = None,
                    data: str | os.PathLike[str] | None = None, *,
                    required: bool = True) -> Description:
        """The ``Description`` of what was run, with the graph where it is now.

        Its path is relative to the folder, so that a project can be moved as a whole. If nothing is
        there, the graph is where it was when the run was written. Orders of products that version
        0.2.0 chose are taken from the checkpoint: others would be chosen now.

        Parameters
        ----------
        changes : dict, optional
            As ``load_description`` takes them.
        data : pathlib.Path or str, optional
            Where the graph is.
        required : bool
            Whether there has to be a graph.

        Raises
        ------
        RunError
            If there is no description, or no graph.
        DescriptionError
            If the description makes no sense.
        """
        description = load_description(self.description_path, changes)
        if "order" not in (changes or {}).get("model", {}):
            description = self._with_orders(description)
        source = description.graph
        if data is not None:
            path = os.path.abspath(data)
            source = replace(source, source=path) if source else Source(source=path)
            return replace(description, graph=source)
        if source is None or source.path is None:
            return description
        places = itertools.chain([source.path], self._places())
        found = next(filter(os.path.exists, places), None)
        if found is None and required:
            raise RunError(f"{self.description_path} says that the graph is {source.path}, but "
                           f"there is no such file or folder; say where it is by --data PATH (in "
                           f"Python, Trainer.of_run(..., graph=PATH)), or put it back")
        return replace(description, graph=replace(source, source=found or source.path))

    def _with_orders(self, description: Description) -> Description:
        """The description with the orders of products that the checkpoint has, if it has none."""
        model = description.model
        if model.chosen and self.has_checkpoint:
            with contextlib.suppress(CheckpointError, DescriptionError, KeyError):
                layers = self.load_checkpoint().identity["network"]["layers"]
                found = replace(model, order=tuple(layer["order"] for layer in layers))
                found.network_of(layers[0]["features_in"], layers[-1]["features_out"])
                model = found
        return replace(description, model=model)

    def _places(self) -> Iterator[str]:
        """Other places where the graph may be than the description says.

        That is relative to the folder as it was named. So it may be relative to what the folder is
        a link to, or else where it was.
        """
        with contextlib.suppress(ValueError):
            kept = load_description(self._folder.resolve() / _DESCRIPTION).graph
            if kept and kept.path:
                yield kept.path
        with contextlib.suppress(ValueError, KeyError, TypeError):
            written = read_json(self._folder / RUN)["facts"][_DATA]
            if isinstance(written, str) and os.path.isabs(written):
                yield written

    def load_checkpoint(self) -> Checkpoint:
        """The ``Checkpoint``; raises ``CheckpointError`` if there is none."""
        return load_checkpoint(self.checkpoint_path)

    def assignment(self, given: Assignment | None = None) -> Assignment:
        """How boards, or one process for them, go on with the run.

        Parameters
        ----------
        given : Assignment, optional
            What is asked for. If that is no more than a scheme, what is older in the run stays so.

        Raises
        ------
        CheckpointError
            If there is no checkpoint, or it cannot be read.
        DescriptionError
            If the run has another scheme.
        """
        given = given or Assignment()
        if given != Assignment(scheme=given.scheme):
            return given
        try:
            kept = assignment_of(self.load_checkpoint().identity.get("staleness", {}))
        except ValueError as error:
            if isinstance(error, CheckpointError):
                raise
            raise CheckpointError(f"{self.checkpoint_path} is no checkpoint: {error}; put back a "
                                  f"copy of it, or train again") from error
        if kept.stale and given.scheme not in (None, kept.scheme):
            raise DescriptionError(f"{self._folder} was trained with the scheme {kept.scheme}, "
                                   f"which decides what is older, not with {given.scheme}; give "
                                   f"that, or leave the scheme out")
        return kept if kept.stale else given

    def records(self) -> list[Record]:
        """The record of each epoch, up to a record that was not written to its end."""
        return [json.loads(line) for line in self._record_lines()]

    def records_of(self, checkpoint: Checkpoint) -> list[Record]:
        """The records of a ``Checkpoint``'s epochs.

        Raises
        ------
        CheckpointError
            If there are too few, or they were not written before it.
        """
        path, count = self._folder / EPOCHS, checkpoint.state.step
        try:
            lines = self._record_lines()
        except FileError as error:
            raise CheckpointError(f"{error}, put back a copy of it, or train again") from error
        if len(lines) < count:
            raise CheckpointError(
                f"{self.checkpoint_path} is of epoch {count}, but only {len(lines)} epochs are "
                f"recorded in {path}; put back a copy of that, or train again")
        if hashlib.sha256(b"".join(lines[:count])).hexdigest() != checkpoint.records:
            raise CheckpointError(
                f"{path} has changed since {self.checkpoint_path} was written; put back a copy of "
                f"it, or train again")
        return [json.loads(line) for line in lines[:count]]

    def process_records(self) -> list[ProcessRecord]:
        """Each process's part of the run; empty if an older version kept it.

        Raises
        ------
        RunError
            If the file is damaged.
        """
        path = self._folder / SESSIONS
        if not path.exists():
            return []
        try:
            return read_process_records(path)
        except ValueError as error:
            raise RunError(f"{path} cannot be read ({error}); remove it: it only says when, and "
                           f"for how long, was trained") from error

    def epochs_written(self) -> int:
        """Epochs that are recorded, whether or not a checkpoint is of them."""
        return len(self._record_lines()) if (self._folder / EPOCHS).is_file() else 0

    def _record_lines(self) -> list[bytes]:
        """The lines of all records that were written to their end."""
        lines = read_bytes(self._folder / EPOCHS).splitlines(keepends=True)
        return [line for line in lines if line.endswith(b"\n")]

    # Writing.

    def lock(self) -> None:
        """Keep other processes from writing; make the folder if there is none.

        Raises
        ------
        FolderLockError
            If another process is writing.
        RunError
            If a file is there that a run would replace, and no run was.
        """
        others = [path for name in _FILES if (path := self._folder / name).is_file()]
        if others and not self._is_run:
            raise RunError(f"{others[0]} is there, which a run would replace, and {self._folder} "
                           f"holds no run; rename it, or give another folder")
        self._lock = FolderLock(self._folder)
        remove_abandoned(self._folder)

    @property
    def _is_run(self) -> bool:
        """Whether the folder was made for a run; version 0.2.0 had no lock."""
        with contextlib.suppress(InputError, OSError):
            return (self._folder / LOCK).exists() or bool(load_description(self.description_path))
        return False

    def check(self, description: Description) -> None:
        """Refuse a description that the folder could not hold.

        Raises
        ------
        RunError
            If a name in it, of a file for instance, is no text.
        """
        try:
            description.relative_to(self._folder).text().encode()
        except UnicodeEncodeError as error:
            line = error.object[:error.start].rpartition("\n")[2] + \
                error.object[error.start:].partition("\n")[0]
            shown = line.encode("ascii", "backslashreplace").decode()
            raise RunError(f"{self._folder / _DESCRIPTION} would have to hold {shown}, which is no "
                           f"UTF-8 text; rename the file") from error

    def check_output(self, path: Path) -> None:
        """Refuse a file for output that is one of the run's own; its report may be made again.

        Raises
        ------
        RunError
            If it is.
        """
        for name in (LOCK, *_FILES):
            own = self._folder / name
            if name != REPORT and path.exists() and own.exists() and path.samefile(own):
                raise RunError(f"{path} is a file of the run {self._folder}; give another")

    def require_writable(self) -> None:
        """Raise ``OSError`` if one of the files that are there cannot be replaced."""
        for name in _FILES:
            if os.path.lexists(path := self._folder / name):
                require_writable(path)

    def release(self) -> None:
        """Let other processes write."""
        if self._lock:
            self._lock.release()

    def begin(self, description: Description, facts: Mapping[str, object], job: Job | None,
              records: Sequence[Record]) -> None:
        """Write the description of the training, and the records of the epochs that have been.

        Without any, an earlier run is removed. Whenever the machine stops, the folder holds this
        run, an earlier one, or none.

        Parameters
        ----------
        description : Description
            From which the run can be made again.
        facts : dict
            What the report shows.
        job : Job or None
            What a chip runs, for its memory map.
        records : list of dict
            A record per epoch.
        """
        described, weights = self._kept_description(description)
        self._earlier = self.process_records() if records else []
        if not records:
            self._clear(described, weights)
        for name, content in weights.items():
            write_durably(self._folder / name, content)
        # The records of earlier epochs must outlive a kill at any time.
        lines = b"".join(_line(record) for record in records)
        write_durably(self._folder / EPOCHS, lines)
        self._recorded = hashlib.sha256(lines)
        self._write(RUN, {"facts": facts, "config": description.device.config.to_dict(),
                          "memory": _memory_map(job) if job else {}})
        write_durably(self._folder / _DESCRIPTION, described)

    def _kept_description(self, description: Description) -> tuple[bytes, dict[str, bytes]]:
        """The description's file, and the contents of the files to keep beside it."""
        model, weights = description.model, {}
        if model.weights:
            source = Path(model.weights)
            kept = self._folder / f"{_WEIGHTS}{source.suffix}"
            if not (kept.exists() and kept.samefile(source)):
                weights[kept.name] = read_bytes(source)
            description = replace(description, model=replace(model, weights=kept.name))
        return description.relative_to(self._folder).text().encode(), weights

    def _clear(self, described: bytes, weights: Mapping[str, bytes]) -> None:
        """Remove an earlier run; its description first, unless the new run has the same one."""
        path = self._folder / _DESCRIPTION
        same = not weights and path.exists() and read_bytes(path) == described
        for name in _FILES[same:]:
            (self._folder / name).unlink(missing_ok=True)
            flush_folder(self._folder)

    def _write(self, name: str, value: object) -> None:
        write_durably(self._folder / name, f"{json.dumps(value, indent=1)}\n".encode())

    def record_process(self, record: ProcessRecord) -> None:
        """Keep what this process did so far; what others did before it stays."""
        self._write(SESSIONS, [one._asdict() for one in (*self._earlier, record)])

    def epoch(self, record: Record) -> None:
        """Add the record of an epoch."""
        line = _line(record)
        append_durably(self._folder / EPOCHS, line)
        self._recorded.update(line)

    def numbers(self, numbers: Iterable[TensorNumbers]) -> None:
        """Keep ``TensorNumbers`` for the report."""
        self._write(NUMBERS, [tensor._asdict() for tensor in numbers])

    def checkpoint(self, identity: dict[str, Any], state: TrainingState,
                   best: TrainingState | None) -> None:
        """Replace the ``Checkpoint``; parameters are its own. Records of its epochs are there."""
        save_checkpoint(self.checkpoint_path, Checkpoint(
            identity=identity, state=state, best=best, records=self._recorded.hexdigest()))

    def boards(self, time: VirtualTime) -> None:
        """Keep what the boards of a cluster would have taken."""
        self._write(BOARDS, time.record())

    def step(self, number: int, profile: Profile, config: Config) -> None:
        """Keep the profile of training step ``number``, from 1."""
        self._write(STEP, {"number": number, "cycles": profile.cycles,
                            "phases": [{**phase._asdict(), "name": str(phase.name)}
                                       for phase in profile.phases]})
        names = [phase.name for phase in profile.phases]
        phases = np.array([names.index(instruction.phase) for instruction in profile.instructions])
        # The report needs the phase of a slice, not its instruction.
        slices = profile.slices._replace(instruction=phases[profile.slices.instruction])
        archive = io.BytesIO()
        np.savez_compressed(archive, **slices._asdict())
        write_durably(self._folder / SLICES, archive.getvalue())
        write_trace(self._folder / _TRACE, profile, config)


def _line(record: Record) -> bytes:
    return f"{json.dumps(record)}\n".encode()


def _memory_map(job: Job) -> dict[str, list[tuple[str, int, int]]]:
    """Places of everything: memory to (name, first word, words) in order of addresses."""
    places: dict[str, list[tuple[str, int, int]]] = {
        "channel 0": [], "channel 1": [], "weight bank": []}
    for name, region in job.regions.items():
        if region.words and name == region.name:  # tensors of evaluations lie where others do
            places[f"channel {region.channel}"].append((name, region.address, region.words))
    for name, weights in job.weights.items():
        places["weight bank"].append((name, weights.base, weights.rows))
    return {memory: sorted(regions, key=lambda place: place[1])
            for memory, regions in places.items()}
