# SPDX-License-Identifier: BSD-2-Clause
"""Options of ``hypercast train`` that say how boards train together."""

import functools
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from hypercast.host.cluster.assignment import SCHEMES
from hypercast.host.cluster.description import Cluster
from hypercast.host.commands.number_types import NumberRange, WholeRange
from hypercast.host.commands.options import Command
from hypercast.host.description.description import Description
from hypercast.host.files.json_values import plain
from hypercast.host.schemes.agreement import versions
from hypercast.host.training.boards import Boards

__all__ = ["BOARD_OPTIONS", "board_options", "facts"]

_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option("--boards", "count", type=WholeRange(1, 1024), default=None,
                 help="Train on so many boards together, with a process of this machine for "
                      "each; the bits are those of one. Or start hypercast train by mpirun."),
    click.option("--scheme", type=click.Choice(SCHEMES), default=None,
                 help="What each board has its own of: some of a step's samples, a part of the "
                      "graph, or a run of layers.  [default: samples with --sampler, else graph]"),
    click.option("--cluster", metavar="NAME|FILE",
                 help="Train as the boards of a cluster would fastest (see hypercast plan), a "
                      "process of this machine for each. Reckons the time that they would take, "
                      "by the cycle model and links. With --boards or --scheme, which count "
                      "then, that only."),
    click.option("--plan", type=click.Path(exists=True, dir_okay=False, path_type=Path),
                 metavar="FILE.toml",
                 help="Train on the boards of --cluster by a plan that hypercast plan -o wrote."),
    click.option("--staleness", is_flag=True,
                 help="Boards that share a graph take each other's rows of the step before, and "
                      "do not wait for them; those that have a run of layers, older weights, or "
                      "with --chunks older rows. With --cluster, if that is fastest. The bits "
                      "are not those of one board."),
    click.option("--smoothing", type=NumberRange(0, 1, max_open=True), default=None,
                 help="With --staleness: rows of others are a running mean that keeps this share "
                      "of itself in each step.  [default: 0]"),
    click.option("--stages", type=WholeRange(1, 1024), default=None,
                 help="With --scheme layers and --staleness: weights are stashed for so many "
                      "stages of layers, and those of stage i are as many steps old as there are "
                      "stages after it. The bits are the same on any number of boards.  "
                      "[default: all weights are one step old]"),
    click.option("--chunks", type=WholeRange(1), default=None,
                 help="With --scheme layers and --staleness, on a whole graph: so many chunks of "
                      "vertices follow each other through the layers; rows of those to come are "
                      "those of the step before, and weights are not older."),
    click.option("--timeout", type=NumberRange(0, 1e7, min_open=True), default=None,
                 help="Seconds that a board waits for another.  [default: 600]"))
#: Their names.
BOARD_OPTIONS = ("--boards", "--scheme", "--cluster", "--plan", "--staleness", "--smoothing",
                 "--stages", "--chunks", "--timeout")


def board_options(command: Command) -> Command:
    """Decorator: the options, given to the command as ``boards``, the ``Boards`` that they mean."""
    @functools.wraps(command)
    def wrapped(*args: Any, count: int | None, scheme: str | None, cluster: str | None,
                plan: Path | None, staleness: bool, smoothing: float | None, stages: int | None,
                chunks: int | None, timeout: float | None, **kwargs: Any) -> None:
        return command(*args, boards=Boards(
            count, scheme=scheme, cluster=cluster, plan=plan, staleness=staleness,
            smoothing=smoothing, stages=stages, chunks=chunks, timeout=timeout), **kwargs)

    found: Command = wrapped
    for option in reversed(_OPTIONS):
        found = option(found)
    return found


def facts(context: click.Context, description: Description,
          cluster: Cluster | None) -> dict[str, Any]:
    """Options and keys that decide a training, as far as the command line and its files give them.

    Where a file lies is no part of it, as that may differ from machine to machine.
    """
    options = {max(parameter.opts, key=len) if isinstance(parameter, click.Option)
               else parameter.human_readable_name: str(context.params[parameter.name])
               for parameter in context.command.params
               if parameter.name and context.params.get(parameter.name) not in (None, (), False)}
    sections = description.sections()
    for section, key in (("graph", "source"), ("model", "weights")):
        if key in sections[section]:
            sections[section][key] = Path(sections[section][key]).name
    return {**options, "description": plain(sections), "version": versions(),
            "cluster": plain(asdict(cluster)) if cluster else {}}
