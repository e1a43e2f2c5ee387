# SPDX-License-Identifier: BSD-2-Clause
"""Keeps a run in its folder, epoch by epoch, and what this process did of it."""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence

import hypercast
from hypercast.host.compiler.job import Job
from hypercast.host.description.description import Description
from hypercast.host.runtime.timeline import Profile
from hypercast.host.training.process_record import ProcessRecord, Stopwatch
from hypercast.host.training.run_folder import Record, RunFolder, RunWarning
from hypercast.rtl.config import Config

__all__ = ["RunKeeper"]


class RunKeeper:
    """The folder of a run, which no other process writes to until ``close``.

    Parameters
    ----------
    folder : RunFolder
        The folder.
    every : int
        Epochs from one checkpoint to the next.
    description : Description
        The description of the training.
    resume : callable, optional
        Takes in the checkpoint that is in the folder, if there is one.

    Attributes
    ----------
    folder : RunFolder
        As given.
    command : str
        The command line that this process is part of.

    Raises
    ------
    RunError, FolderLockError, OSError
        If the folder cannot hold the run, or another process keeps one there.
    """

    def __init__(self, folder: RunFolder, every: int, description: Description,
                 resume: Callable[[RunFolder], None] | None) -> None:
        self.folder, self._every, self._device = folder, every, description.device
        self.command = ""
        self._begun = 0  # the epoch, from 1, that this began with
        self._stopwatch = Stopwatch()
        folder.check(description)
        folder.lock()
        try:
            folder.require_writable()
            if resume and folder.has_checkpoint:
                resume(folder)
                folder.process_records()
            elif resume and (epochs := folder.epochs_written()):
                warnings.warn(
                    f"{folder.checkpoint_path} is not there, though {epochs} epochs were recorded "
                    f"in its folder; this training begins anew", RunWarning, stacklevel=2)
        except BaseException:
            folder.release()
            raise

    @contextlib.contextmanager
    def epoch(self, done: Callable[[], tuple[int, bool]]) -> Iterator[None]:
        """Measure an epoch; ``done`` gives the epochs that have been, and whether all have."""
        first = self._stopwatch.begun is None
        with self._stopwatch.running():
            yield
        epoch, finished = done()
        if first or finished:
            self._record_process(epoch, ended=finished)

    def begin(self, description: Description, facts: Mapping[str, object], job: Job | None,
              history: Sequence[Record]) -> None:
        """Replace an earlier run in the folder, when the first epoch of this process has been."""
        if not self._begun:
            self.folder.begin(description, facts, job, history)
            self._begun = len(history) + 1

    def keep(self, record: Record, profile: Profile | None, config: Config) -> None:
        """Add the record of an epoch, and the ``profile`` of its step if that was recorded."""
        self.folder.epoch(record)
        if profile:
            self.folder.step(record["epoch"] + 1, profile, config)

    def wants_checkpoint(self, epoch: int) -> bool:
        """Whether it is time for a checkpoint, after so many epochs."""
        return epoch % self._every == 0

    def _record_process(self, epoch: int, *, ended: bool) -> None:
        """Keep what this process did; if more is to come, without what is not known yet."""
        self.folder.record_process(ProcessRecord(
            command=self.command, begun=f"{self._stopwatch.begun:%Y-%m-%dT%H:%M:%S+00:00}",
            version=hypercast.__version__, device=self._device.name,
            first=self._begun, last=epoch if ended else None,
            seconds=self._stopwatch.seconds if ended else None))

    def close(self, epoch: int, finished: bool) -> None:
        """Let other processes write."""
        if self._begun and not finished:
            self._record_process(epoch, ended=True)
        self.folder.release()
