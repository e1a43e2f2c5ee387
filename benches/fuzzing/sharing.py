# SPDX-License-Identifier: BSD-2-Clause
"""Options of how boards share a training, and plans whose numbers were edited."""

import tomllib
from functools import cache
from random import Random
from typing import Any

import tomli_w

from hypercast.benches.fuzzing.command_line import run_command
from hypercast.benches.fuzzing.descriptions import draw_sections
from hypercast.benches.fuzzing.trial import READ, REFUSED, Trial, check_refusal, outcome, require
from hypercast.host.cluster.assignment import SCHEMES
from hypercast.host.cluster.description import load_cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import Description
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner.pipelines import BoardStage, evaluate
from hypercast.host.planner.plan import NOT_YET, Plan
from hypercast.host.planner.plan_file import plan_of_sections, plan_text
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.search import search
from hypercast.host.planner.strategies import gnnpipe, pipedream
from hypercast.host.training.boards import Boards
from hypercast.host.training.planning import assignment_of, planned_description, problem_of
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing

__all__ = ["try_edited_plan", "try_sharing"]

_VALUES: dict[str, tuple[Any, ...]] = {
    "--scheme": SCHEMES, "--stages": (1, 2, 3, 9, 1024, 0, -1, 1025, "x", ""),
    "--chunks": (1, 2, 5, 34, 35, 10**9, 0, -3, "x", "1.5"),
    "--smoothing": (0, 0.5, 0.999999, "1e-320", "-0.0", 1, -1, "nan", "inf", "x")}
#: Names in a refusal that is about several options.
_WORDS = ("--", "[sampling]", "[recipe]", "[model]", "scheme", "stages", "chunks", "smoothing",
          "staleness", "gradient", "vertices", "layers", "samples")
_CLUSTER = "vcu128-4"


def try_sharing(trial: Trial) -> str:
    """Options of older rows and weights, in any combination: as the command takes them, and on.

    A combination that passes the command's checks is trained in this process, where it gives the
    bits that boards would.
    """
    random = trial.random
    options = {name: random.choice(values) for name, values in _VALUES.items()
               if trial.chance(0.5)}
    if trial.chance(0.6):  # options that belong together
        older = random.choice(("--stages", "--chunks", ""))
        options = {"--scheme": "layers", **({older: random.choice(_VALUES[older][:5])}
                                            if older else {})}
    staleness = trial.chance(0.8)
    arguments = [f"{name}={value}" for name, value in options.items()] \
        + ["--staleness"] * staleness
    trial.note(f"train karate {' '.join(arguments)}")
    if arguments:  # boards would be other processes
        require(run_command([*options, *_WORDS], "train", "karate", "--epochs=1", *arguments)
                is None, "one board takes options of several")
    try:
        given = {name.strip("-"): _number(name, options.get(name)) for name in _VALUES}
    except ValueError:
        return REFUSED
    sections = draw_sections(random)
    sections["recipe"]["epochs"] = 3
    if "sampling" in sections and trial.chance(0.5):
        sections["recipe"]["micro_batches"] = 2
    trial.note(f"{' '.join(arguments)}, {sections}")
    try:
        boards = Boards(2, staleness=staleness, **given)
    except DescriptionError as error:
        check_refusal(error.on_command_line, _WORDS)
        return REFUSED
    try:
        with Trainer.of_description(Description.of_sections(sections),
                                    boards=Sharing(assignment=boards.assignment)) as trainer:
            trainer.fit()
            require(trainer.epoch == 3, "it has ended early")
    except Exception as error:
        return outcome(error, _WORDS)
    return READ


def _number(name: str, value: Any) -> Any:
    """The value of an option as its type has it; raises ``ValueError`` as the command would."""
    if value is None or name == "--scheme":
        return value
    number = float(value) if name == "--smoothing" else int(value)
    if not (0 <= number < 1 if name == "--smoothing" else
            1 <= number and (name != "--stages" or number <= 1024)):
        raise ValueError
    return number


def try_edited_plan(trial: Trial) -> str:
    """A plan of a training with one number changed: it is refused, or boards follow it."""
    random = trial.random
    description, problem, texts = _trainings()[random.randrange(2)]
    sections = tomllib.loads(random.choice(texts))
    edits = [_edit(random, sections, problem) for _ in range(random.choice((1, 1, 2)))]
    trial.note(f"{sections['plan']['strategy']}: {', '.join(edits)}")
    try:
        plan = plan_of_sections(sections, problem)
        require(plan.seconds > 0, "a step takes no time")
        assignment = assignment_of(plan, random.choice((0.0, 0.5)))
    except DescriptionError as error:
        return outcome(error, ["[plan]", "[shares", "[training]", "share", "board", "micro_batches",
                               "part", "circle"])
    require(plan.trains != NOT_YET, "what cannot be trained is")
    require({*assignment.boards} == {*plan.boards}, "other boards")
    if assignment.runs:
        require([one for run in assignment.runs for one in run] == [*problem.numbers],
                "boards have other layers")
    count = sum(assignment.micro_batches)
    require(count in (0, planned_description(description, problem, plan).recipe.micro_batches),
            f"boards take {count} micro-batches")
    require(not assignment.parts or abs(sum(assignment.parts) - 1) < 0.01, "parts of another whole")
    if len(plan.boards) == 1 and trial.chance(0.3):
        path = trial.folder / "plan.toml"
        path.write_text(tomli_w.dumps(sections), encoding="utf-8")
        options = ("--sampler=walks", "--batch=3", "--micro-batches=4") \
            if problem.statistics.sampled else ()
        run_command([str(path), *_WORDS], "train", "karate", "--epochs=1", "--layers=3",
                    "--hidden=4", f"--cluster={_CLUSTER}", f"--plan={path}", *options)
    return READ


def _edit(random: Random, sections: dict[str, Any], problem: Problem) -> str:
    """Change a number, or a list of some; returns a text about the change."""
    share = random.choice(list(sections["shares"]))
    values = sections["shares"][share]
    names = [board.name for board in problem.boards]
    match random.choice(("layers", "boards", "count", "plan", "share", "part")):
        case "layers":
            values["layers"] = random.choices(range(5), k=random.randint(0, 5))
        case "boards":
            values["boards"] = random.choices(names, k=random.randint(0, 4))
        case "count":
            key = random.choice([key for key in values if key not in ("boards", "layers")]
                                or ["in_flight"])
            values[key] = random.choice((-1, 0, 1, 2, 3, 4, 9, 10**6, 10**30))
        case "part" if "part" in values:
            values["part"] = random.choice((0, -0.5, 0.5, 1, 1.5, 1e-9, 1e300, float("nan"),
                                            float("inf")))
        case "share":
            sections["shares"].pop(share)
            if not sections["shares"] or random.random() < 0.5:
                sections["shares"]["one"] = {"boards": random.choices(names, k=2),
                                             "layers": [*problem.numbers], "in_flight": 1}
        case _:
            key, choices = random.choice((
                ("schedule", ("SNO", "SO", "FBP", "1F1B", "GPipe", "paths")),
                ("units", (-1, 0, 1, 3, 4, 34, 35, 10**20)),
                ("split", ([1, 1, 1], [2, 1, 1], [0, 1], [1] * 9))))
            sections["plan"][key] = random.choice(choices)
    return f"[shares.{share}] {sections['shares'].get(share)}, [plan] {sections['plan']}"


@cache
def _trainings() -> list[tuple[Description, Problem, list[str]]]:
    """Trainings on samples and on a whole graph, and their plans as texts."""
    found, graph = [], Graph.load("karate")
    for more in ({}, {"sampling": {"sampler": "walks", "batch": 3},
                      "recipe": {"micro_batches": 4}}):
        description = Description.of_sections({
            "graph": {"source": "karate"}, "model": {"layers": 3, "hidden": 4}, **more})
        problem = problem_of(description, load_cluster(_CLUSTER), graph)
        boards = problem.boards
        discipline = pipedream.DISCIPLINE if more else gnnpipe.DISCIPLINE
        made = [plan for plan in search(problem).plans] + [
            evaluate(problem, discipline, stages, "SNO" if more else "GPipe", chunks=2)
            for stages in ([BoardStage((0, 1, 2), boards[:1])],
                           [BoardStage((0,), boards[:1]), BoardStage((1, 2), boards[1:2])])]
        found.append((description, problem, [plan_text(problem, plan) for plan in made
                                             if isinstance(plan, Plan)]))
    return found
