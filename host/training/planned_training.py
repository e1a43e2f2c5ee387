# SPDX-License-Identifier: BSD-2-Clause
"""A training by a plan: a plan in a file, or the best plan for a cluster."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from hypercast.host.cluster.assignment import Assignment, unfit_value
from hypercast.host.cluster.description import Cluster
from hypercast.host.description.description import Description
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner.plan import Plan
from hypercast.host.planner.plan_file import plan_boards, plan_divisions, plan_text
from hypercast.host.planner.problem import Problem
from hypercast.host.processes.child_process import in_child_process
from hypercast.host.training.boards import Boards
from hypercast.host.training.planning import (
    assignment_of,
    choose_plan,
    planned_description,
    problem_of,
    read_plan,
)

__all__ = ["PlannedTraining", "plan_training", "read_planned", "start_planned"]


class PlannedTraining(NamedTuple):
    """A training by a plan.

    Attributes
    ----------
    description : Description
        As ``planned_description`` has it. If the graph was read, its source has it.
    assignment : Assignment
        What each board does.
    plan : Plan
        The plan.
    problem : Problem
        What the planner was asked.
    """

    description: Description
    assignment: Assignment
    plan: Plan
    problem: Problem

    @property
    def boards(self) -> int:
        """How many boards train."""
        return sum(len(share.boards) for share in self.plan.shares)

    @property
    def text(self) -> str:
        """The plan as a file has it."""
        return plan_text(self.problem, self.plan)


def plan_training(boards: Boards, description: Description, graph: Graph | None = None, *,
                  progress: Callable[[str], None]) -> PlannedTraining:
    """The training by the plan that boards have, or else by the best one for their cluster.

    Parameters
    ----------
    boards : Boards
        The boards, which are ``choose_plan``.
    description : Description
        The description of the training.
    graph : Graph, optional
        The graph, if it has been read, or comes from nowhere.
    progress : callable
        Called with a line of text before each slow part.

    Raises
    ------
    DescriptionError
        As ``choose_plan`` and ``read_planned`` do.
    """
    if boards.plan:
        return read_planned(boards, description, None, graph=graph, whole=False, progress=progress)
    assert boards.described
    description, graph = _read(description, graph, progress)
    problem = problem_of(description, boards.described, graph, progress=progress)
    plan = choose_plan(description, problem, staleness=boards.staleness, progress=progress)
    return PlannedTraining(planned_description(description, problem, plan),
                           assignment_of(plan, boards.smoothing or 0.0), plan, problem)


def read_planned(boards: Boards, description: Description, started: int | None, *,
                 graph: Graph | None = None, whole: bool = True,
                 progress: Callable[[str], None]) -> PlannedTraining:
    """The training by the plan that boards have.

    Parameters
    ----------
    boards : Boards
        The boards.
    description : Description
        The description of the training.
    started : int, optional
        How many processes were started for them.
    graph : Graph, optional
        The graph, if it has been read, or comes from nowhere.
    whole : bool
        Whether this process is to have the whole graph. Else another one divides it, unless steps
        work on samples.
    progress : callable
        Called with a line of text before each slow part.

    Raises
    ------
    DescriptionError
        If the plan makes no sense, or is for another training, cluster or number of boards.
    """
    path, cluster = boards.plan, boards.described
    assert isinstance(path, Path) and cluster
    count, counts = plan_boards(path), plan_divisions(path)
    if started is not None and count != started:
        raise unfit_value("plan", "{0} is for {1} boards, but {2} processes were started; "
                          "start {1}, or leave mpirun out", path, count, started)
    if whole or graph is not None or description.sampling.sampler:
        description, graph = _read(description, graph, progress)
        problem = problem_of(description, cluster, graph, counts, progress)
    else:
        problem = next(in_child_process("divides the graph", _problem, description, cluster,
                                        counts, progress=progress))
    plan, assignment = read_plan(path, problem, boards.smoothing or 0.0)
    return PlannedTraining(planned_description(description, problem, plan), assignment, plan,
                           problem)


def start_planned(boards: Boards, description: Description, arguments: Sequence[str],
                  start: Callable[[int, Sequence[str]], NoReturn],
                  progress: Callable[[str], None]) -> PlannedTraining | None:
    """Start a process for each board of a plan, which is looked for if there is none.

    Parameters
    ----------
    boards : Boards
        The boards, which are ``planned``.
    description : Description
        The description of the training.
    arguments : sequence of str
        The command line of this process, without its name.
    start : callable
        Starts so many processes with a command line, and ends this one with them.
    progress : callable
        Called with a line of text before each slow part.

    Returns
    -------
    PlannedTraining or None
        If one board is best: the training by the plan that was found, or None if it was given.

    Raises
    ------
    DescriptionError
        As ``choose_plan`` does.
    """
    if isinstance(boards.plan, Path):
        if (count := plan_boards(boards.plan)) > 1:
            start(count, arguments)
        return None
    planned = plan_training(boards, description, progress=progress)
    if planned.boards > 1:
        with tempfile.TemporaryDirectory() as folder:
            path, count = Path(folder) / "plan.toml", planned.boards
            path.write_text(planned.text, encoding="utf-8")
            del planned  # the graph is read by others
            start(count, [*arguments, "--plan", str(path)])
    return planned


def _read(description: Description, graph: Graph | None,
          progress: Callable[[str], None]) -> tuple[Description, Graph]:
    """A description whose source has the graph, and the graph."""
    if graph is None:
        progress("reading the graph")
        graph = description.load_graph()
    return description.with_graph(graph), graph


def _problem(description: Description, cluster: Cluster, counts: Sequence[int], *,
             progress: Callable[[str], None]) -> Iterator[Problem]:
    progress("reading the graph")
    yield problem_of(description, cluster, description.load_graph(), counts, progress)
