# SPDX-License-Identifier: BSD-2-Clause
"""A strategy is its module and an entry of the registry: nothing else knows it by its name."""

import ast
import re
from dataclasses import replace

import pytest

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import Description
from hypercast.host.graphs.datasets import blocks
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner.parts_strategy import PART, parts_strategy
from hypercast.host.planner.pipeline_strategy import pipeline_strategy
from hypercast.host.planner.pipelines import BoardStage, Discipline, evaluate
from hypercast.host.planner.plan import Plan, PlannedShare
from hypercast.host.planner.plan_file import load_plan, plan_boards, plan_text
from hypercast.host.planner.search import search
from hypercast.host.planner.strategies import STRATEGIES
from hypercast.host.planner.strategy import shorten
from hypercast.host.training.planning import assignment_of, planned_description, problem_of
from tests.host.planner.problems import cluster
from tests.packaging.source_tree import ROOT, SHIPPED, modules

OWN = "host/planner/strategies/"
BOARDS = cluster(1, 1, 1)
GRAPH = Graph(**blocks(vertices=60))


def texts(path):
    """All texts in a module but its documentation."""
    tree = ast.parse((ROOT / path).read_text())
    alone = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [node.value for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            and node not in alone]


def named(name, text):
    """Whether a text is a strategy's name or, if that is no common words, has it in it."""
    return text == name or (not re.fullmatch(r"[a-z ]+", name) and re.search(
        rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None)


def test_no_other_module_has_a_name():
    """Benches do: they name the strategies that their figures compare."""
    known = {path.as_posix(): texts(path) for path in modules(*SHIPPED)}
    for name in STRATEGIES:
        path, = (path for path, found in known.items() if any(named(name, one) for one in found))
        assert path.startswith(OWN)


def test_names_are_found():
    assert named("GNNPipe", "a GNNPipe, as it was") and named("one board", "one board")
    assert not named("PipeDream", "PipeDream-2BW") and not named("one board", "one board only")


def test_every_strategy_is_in_the_table_of_the_docs():
    assert all(name == strategy.name for name, strategy in STRATEGIES.items())
    page = (ROOT / "docs/plan.md").read_text()
    _, rows = page.split("| strategy | who does what | stale |\n|---|---|---|\n", 1)
    assert [row.split(" | ")[0].lstrip("| ") for row in rows.split("\n\n")[0].splitlines()] == [
        *STRATEGIES]


def _reversed(problem):
    layers, boards = range(len(problem.layers)), problem.boards
    yield evaluate(problem, REVERSED, [
       BoardStage((*layers[:1],), boards[2:]), BoardStage((*layers[1:],), boards[1:2])], "SNO")


REVERSED = Discipline(strategy="from the last board on", staleness="what was before", versions=0,
                      flush=False)
#: Boards have parts of the graph, and what is trained has another seed.
THIRDS = "a third each"


def _thirds(problem, boards, parts):
    if len(boards) != 3:
        return f"a third is of 3 boards, not {len(boards)}"
    return Plan(strategy=THIRDS, scheme="thirds", seconds=1e-9, memory={"b0-0": 1},
                shares=tuple(PlannedShare(boards=(board.name,), layers=problem.numbers, part=part)
                             for board, part in zip(boards, parts, strict=True)),
                staleness="halos", assignment=Assignment(
                    scheme="graph", boards=tuple(board.name for board in boards),
                    parts=tuple(parts), smoothing=0.0))


@pytest.fixture
def added(monkeypatch):
    """A registry with two more strategies."""
    for strategy in (
            pipeline_strategy(REVERSED, _reversed),
            parts_strategy(
                THIRDS, PART, _thirds, counts=lambda boards: [boards, 7],
                plans=lambda problem: iter([_thirds(problem, problem.boards, [1 / 3] * 3)]),
                describe=lambda description, plan: replace(description, recipe=replace(
                    description.recipe, seed=50 + len(plan.shares))))):
        monkeypatch.setitem(STRATEGIES, strategy.name, strategy)


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize("name", [REVERSED.strategy, THIRDS])
def test_what_is_in_the_registry_is_planned_written_read_and_assigned(name, tmp_path):
    description, told, path = Description(), [], tmp_path / "plan.toml"
    problem = problem_of(description, BOARDS, GRAPH)
    assert {3, 7} <= {len(parts) for parts in problem.statistics.divisions}
    found = search(problem, told.append)
    assert name in told
    plan, = (one for one in found.plans if one.strategy == name)
    assert (found.best(staleness=True).strategy == THIRDS) and not plan.exact

    path.write_text(plan_text(problem, plan))
    assert plan_boards(path) == len(plan.boards)
    assert load_plan(path, problem) == plan
    assignment = assignment_of(plan, 0.5)
    assert assignment.boards == plan.boards
    changed = planned_description(description, problem, plan)
    if name == THIRDS:
        assert (assignment.parts, assignment.smoothing) == ((1 / 3,) * 3, 0.5)
        assert changed.recipe.seed == 53
    else:
        assert assignment.runs == (range(1, 2), range(2, 3)) and assignment.stages == 2
        assert changed.recipe == description.recipe
    path.write_text(plan_text(problem, plan).replace(name, "none of them"))
    with pytest.raises(DescriptionError, match=f"must be one of one board, .*, {THIRDS}, not none"):
        load_plan(path, problem)


@pytest.mark.usefixtures("added")
def test_what_a_strategy_says_of_a_file_is_an_error(tmp_path):
    path, problem = tmp_path / "plan.toml", problem_of(Description(), BOARDS, GRAPH, counts=[])
    shares = _thirds(problem, problem.boards, [0.5, 0.25, 0.25])
    text = plan_text(problem, replace(shares, shares=shares.shares[:2]))
    path.write_text(text.replace("0.25", "0.5"))
    with pytest.raises(DescriptionError, match="a third is of 3 boards, not 2") as error:
        load_plan(path, problem)
    assert error.value.section == "shares"


def test_long_values_are_shortened():
    assert (shorten("abc"), shorten((1, 2)), shorten("x" * 80)) == ("abc", "[1, 2]", "x" * 80)
    assert shorten("x" * 70 + "y" * 15) == "x" * 60 + " ... " + "y" * 15
