# SPDX-License-Identifier: BSD-2-Clause
"""What options of ``hypercast train`` say of how boards train together."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from hypercast.host.cluster.assignment import LAYERS, Assignment
from hypercast.host.cluster.description import Cluster
from hypercast.host.description.description import Description
from hypercast.host.files.json_values import plain
from hypercast.host.processes.mpi_group import MpiGroup, world
from hypercast.host.schemes.sharing import versions

__all__ = ["check_group", "check_plan", "check_staleness", "described_assignment", "given",
           "started_group"]

#: Seconds that a board waits for another.
_TIMEOUT = 600.0


def check_staleness(scheme: str | None, plan: Path | None, *, staleness: bool,
                    smoothing: float | None, stages: int | None, chunks: int | None) -> None:
    """Refuse options of older rows or weights that do not fit each other."""
    if smoothing is not None and not (staleness or plan):
        raise click.UsageError("--smoothing is of rows that are a step old; give --staleness as "
                               "well")
    for option, given in (("--stages", stages), ("--chunks", chunks)):
        if given and not (staleness and scheme == LAYERS):
            raise click.UsageError(f"{option} says what is older where boards have a run of layers "
                                   f"each; give --scheme layers and --staleness as well")
    if stages and chunks:
        raise click.UsageError("--stages are of older weights, --chunks of older rows; leave one "
                               "of them out")


def described_assignment(scheme: str | None, staleness: bool, smoothing: float | None,
                         stages: int, chunks: int) -> Assignment:
    """What options say of how boards share a training."""
    if not staleness:
        return Assignment(scheme=scheme)
    if scheme == LAYERS:
        if smoothing is not None:
            raise click.UsageError("--smoothing is of rows that are a step old; with --scheme "
                                   "layers, it is weights that are; leave it out")
        return Assignment(scheme=scheme, stages=stages, chunks=chunks,
                          versions=1 if stages or chunks else 2)
    return Assignment(scheme=scheme, smoothing=smoothing or 0.0)


def check_plan(plan: Path | None, cluster: str | None, boards: int | None,
               scheme: str | None) -> None:
    """Refuse options that a plan decides."""
    if plan is None:
        return
    if not cluster:
        raise click.UsageError(f"{plan} is a plan for the boards of a cluster; give --cluster as "
                               f"well")
    for option, given in (("--boards", boards), ("--scheme", scheme)):
        if given:
            raise click.UsageError(f"{option} and --plan both say how boards train together; "
                                   f"leave one of them out")


def started_group(timeout: float | None) -> MpiGroup | None:
    """The processes that were started together; None if this one is alone."""
    return world(timeout or _TIMEOUT)


def given(context: click.Context, description: Description,
          cluster: Cluster | None) -> dict[str, Any]:
    """What decides a training, as far as the command line and its files say it, by option and key.

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


def check_group(group: MpiGroup | None, boards: int | None, timeout: float | None,
                scheme: str | None, cluster: str | None, staleness: bool,
                plan: Path | None) -> None:
    """Refuse options that are at odds with how many processes were started together."""
    size = group.size if group else 1
    if boards and boards != size:
        raise click.UsageError(f"--boards {boards} starts as many processes, but {size} were "
                               f"started already; leave one of the two out")
    for option, given in (("--timeout", timeout), ("--scheme", scheme),
                          ("--cluster", cluster), ("--staleness", staleness)):
        if given and not group and not plan:
            raise click.UsageError(f"{option} says how boards train together"
                                   f"{', but --boards is 1; give 2 or more' if boards else ''}"
                                   f"{'' if boards else '; give --boards as well'}")
