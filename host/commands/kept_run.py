# SPDX-License-Identifier: BSD-2-Clause
"""Options and steps that commands on a kept run have in common."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from hypercast.host.commands.progress_text import ProgressText
from hypercast.host.training.run_folder import RunFolder
from hypercast.host.training.trainer import Trainer

__all__ = ["kept_run"]


def kept_run(function: Callable[..., None]) -> Callable[..., None]:
    """Decorator: argument RUN and options of how to open it, given to the command as ``trainer``.
    """
    @click.argument("folder", metavar="RUN", type=click.Path(path_type=Path, file_okay=False))
    @click.option("--device", metavar="DEVICE", default="reference", show_default=True,
                  help="As for train; the bits are the same.")
    @click.option("--data", metavar="PATH", type=click.Path(exists=True, path_type=Path),
                  help="Where the run's graph is now, if it is not where it was.")
    @functools.wraps(function)
    def wrapped(*args: Any, folder: Path, device: str, data: Path | None, **kwargs: Any) -> None:
        if "output" in kwargs:
            RunFolder(folder).check_output(kwargs["output"])
        with ProgressText("opening the run") as progress:
            trainer = Trainer.of_run(folder, device, graph=data, progress=progress.update)
            with trainer:
                return function(*args, trainer=trainer, **kwargs)
    return wrapped
