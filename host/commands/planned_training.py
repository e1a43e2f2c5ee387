# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast train`` by a plan: one that is in a file, or the best one for a cluster."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import Cluster
from hypercast.host.commands.plan_lines import plan_lines
from hypercast.host.description.description import Description
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner.plan_file import plan_boards, plan_divisions, plan_text
from hypercast.host.planner.problem import Problem
from hypercast.host.processes.apart import apart
from hypercast.host.processes.group import Group
from hypercast.host.training.planning import (
    planned,
    planned_description,
    problem_of,
    read_plan,
)

__all__ = ["PlannedTraining", "follow_plan", "lead_plan", "written_plan"]


class PlannedTraining(NamedTuple):
    """A training by a plan.

    Attributes
    ----------
    description : Description
        As ``planned_description`` has it.
    assignment : Assignment
        What each board does.
    seconds : float
        Predicted time of a step.
    lines : tuple of str
        What was chosen, as text.
    graph : Graph or None
        The graph, on the leader, if it needs the whole one.
    """

    description: Description
    assignment: Assignment
    seconds: float
    lines: tuple[str, ...]
    graph: Graph | None


@contextlib.contextmanager
def written_plan(description: Description, cluster: Cluster, staleness: bool,
                 progress: Callable[[str], None]) -> Iterator[Path]:
    """A file with the plan that is best for a cluster, while it is needed."""
    progress("reading the graph")
    problem = problem_of(description, cluster, description.load_graph(), progress=progress)
    text = plan_text(problem, planned(
        description, problem, staleness=staleness, progress=progress))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.toml"
        path.write_text(text, encoding="utf-8")
        yield path


def lead_plan(path: Path, description: Description, cluster: Cluster, group: Group | None,
              smoothing: float, progress: Callable[[str], None]) -> PlannedTraining:
    """Read and check a plan, and tell the other ranks of it; ``smoothing`` is of stale halos.

    Raises
    ------
    DescriptionError
        If the plan makes no sense, or is for another training or cluster.
    click.UsageError
        If it is for another number of boards.
    """
    count, size = plan_boards(path), group.size if group else 1
    if count != size:
        raise click.UsageError(
            f"{path} is a plan for {count} boards, but {size} processes were started; start "
            f"{count}, or leave mpirun out")
    counts = plan_divisions(path)
    graph = None
    if group and not description.sampling.sampler:  # boards have parts of the graph, or need none
        problem = next(apart("divides the graph", _problem, description, cluster, counts,
                             progress=progress))
    else:
        progress("reading the graph")
        graph = description.load_graph()
        problem = problem_of(description, cluster, graph, counts, progress)
    plan, assignment = read_plan(path, problem, smoothing)
    found = PlannedTraining(planned_description(description, problem, plan), assignment,
                            plan.seconds, tuple(plan_lines(plan, problem)), None)
    if group:
        group.tell(found)
    return found._replace(graph=graph)


def follow_plan(group: Group) -> PlannedTraining:
    """On other ranks: what the leader tells."""
    found: PlannedTraining = group.tell()
    return found


def _problem(description: Description, cluster: Cluster, counts: Sequence[int], *,
             progress: Callable[[str], None]) -> Iterator[Problem]:
    progress("reading the graph")
    yield problem_of(description, cluster, description.load_graph(), counts, progress)
