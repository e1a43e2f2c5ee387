# SPDX-License-Identifier: BSD-2-Clause
"""Damaged descriptions of several boards: clusters and plans."""

import itertools
import math
import tomllib
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import tomli_w

from hypercast.benches.fuzzing.file_damage import damage_file
from hypercast.benches.fuzzing.trial import READ, SAME, Trial, outcome, require
from hypercast.benches.fuzzing.value_damage import EDGES, damaged_tree
from hypercast.host.cluster.description import CLUSTERS, Cluster, load_cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.files.picture import picture
from hypercast.host.planner.gantt import draw_gantt
from hypercast.host.planner.plan_file import load_plan, plan_text
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.search import search
from hypercast.host.planner.statistics import Statistics
from hypercast.reference.network import Network

__all__ = ["try_cluster", "try_plan"]

#: Boards that a plan is looked for, so that a trial is quick.
_FEW = 8


#: Texts that do not print, or that mean something else to programs that print and draw them.
_TEXTS = ("a\u202eb", "\u200b", "\x1b[31m", r"$\frac$", "[/b]", "[bold]", "a b", "a,b", "\u3164",
          "x" * 65, "vcu128-0", "none", "%s", "<b>")
#: Values of other kinds, and numbers that make a time no number, or that are beyond all others.
_EDGES = (*EDGES, *_TEXTS, date(2020, 1, 2), 1e-320, 1e-9, 1e-6, 1e9, 10**36, 10**18, 65)


def try_cluster(trial: Trial) -> str:
    """A cluster's file: read, and planned and drawn for."""
    name = trial.random.choice(list(CLUSTERS))
    path, whole = _damage(trial, CLUSTERS[name])
    try:
        cluster = load_cluster(str(path))
    except DescriptionError as error:
        require(not whole, f"a cluster that is not damaged is refused: {error}")
        return outcome(error, [str(path)])
    sections = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    count = sum(group.get("count", 1) for group in sections["boards"].values())
    require(len(cluster.boards) == count, f"there are {len(cluster.boards)} boards, not {count}")
    for board in cluster.boards:
        require(board.memory > 0 and 0 < board.clock < math.inf, f"{board} cannot be")
        require(board.name.isprintable(), f"the name {board.name!r} does not print")
    for one, other in itertools.combinations(cluster.boards[:9], 2):
        if cluster.connects(one, other):
            seconds = cluster.route(one, other).seconds(1 << 60)
            require(0 < seconds < math.inf, f"{one.name} sends to {other.name} in {seconds} s")
    if len(cluster.boards) <= _FEW:
        _plan_for(trial, cluster, str(path))
    return SAME if sections == CLUSTERS[name] else READ


def _plan_for(trial: Trial, cluster: Cluster, path: str) -> None:
    """Plan for a cluster, and draw a schedule."""
    try:
        cluster.require_joined()
        problem = Problem.of_network(
            cluster, Network.of_widths([24, 8, 4]),
            Statistics(vertices=(400,) * 3, edges=(2000,) * 2, sampled=True), micro_batches=4)
        plans = search(problem).plans
    except ValueError as error:
        outcome(error, [path, "boards", "no plan"])
        return
    for plan in plans:
        require(0 < plan.seconds < math.inf, f"{plan.strategy} takes {plan.seconds} s")
    drawn = [plan for plan in plans if plan.intervals]
    if drawn and any("$" in name for plan in drawn for name in plan.boards):
        picture(draw_gantt(trial.random.choice(drawn)), Path("schedule.svg"))


def try_plan(trial: Trial) -> str:
    """A plan's file."""
    problem, texts = _plans()
    text = trial.random.choice(texts)
    path, whole = _damage(trial, tomllib.loads(text))
    try:
        plan = load_plan(path, problem)
    except DescriptionError as error:
        require(not whole, f"a plan that is not damaged is refused: {error}")
        return outcome(error, [str(path)])
    require(0 < plan.seconds < math.inf, f"a step takes {plan.seconds} s")
    again = tomllib.loads(plan_text(problem, plan))
    sections = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    for share, keys in zip(again["shares"].values(), sections["shares"].values(), strict=True):
        require(all(share["boards"][place] == name
                    for place, name in enumerate(_list(keys["boards"]))), "other boards")
    return SAME if whole else READ


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@cache
def _plans() -> tuple[Problem, list[str]]:
    """A small problem, and its plans as texts."""
    problem = Problem.of_network(
        load_cluster("u50-4"), Network.of_widths([24, 8, 8, 8, 4]),
        Statistics(vertices=(400,) * 5, edges=(2000,) * 4, sampled=True), micro_batches=8)
    return problem, [plan_text(problem, plan) for plan in search(problem).plans]


def _damage(trial: Trial, sections: dict[str, Any]) -> tuple[Path, bool]:
    """A file with sections after some damage, and whether there was none."""
    path, random = trial.folder / "boards.toml", trial.random
    whole = trial.chance(0.05)
    if whole or trial.chance(0.4):
        path.write_text(tomli_w.dumps(sections), encoding="utf-8")
        if not whole:
            trial.note(damage_file(random, path))
        return path, whole
    changed, text = damaged_tree(random, sections, _EDGES, _TEXTS)
    try:
        path.write_text(tomli_w.dumps(changed), encoding="utf-8")
    except (TypeError, ValueError, AttributeError, RecursionError):  # no value of such files
        path.write_text("", encoding="utf-8")
    trial.note(text)
    return path, False
