"""Damaged clusters and plans: what describes several boards."""

import math
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import tomli_w

from hypercast.host.cluster.description import load_cluster
from hypercast.host.cluster.presets import CLUSTERS
from hypercast.host.fuzzing.file_damage import damage_file
from hypercast.host.fuzzing.trial import READ, SAME, Trial, refused, require
from hypercast.host.fuzzing.value_damage import damaged_tree
from hypercast.host.planner.plan_file import load_plan, plan_text
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.search import search
from hypercast.host.planner.statistics import Statistics
from hypercast.host.training.description.conversion import DescriptionError
from hypercast.reference.network import Network

__all__ = ["try_cluster", "try_plan"]


def try_cluster(trial: Trial) -> str:
    """A cluster's file."""
    name = trial.random.choice(list(CLUSTERS))
    path, whole = _damaged(trial, CLUSTERS[name])
    try:
        cluster = load_cluster(str(path))
    except DescriptionError as error:
        require(not whole, f"a cluster that is not damaged is refused: {error}")
        return refused(error, [str(path)])
    sections = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    count = sum(group.get("count", 1) for group in sections["boards"].values())
    require(len(cluster.boards) == count, f"there are {len(cluster.boards)} boards, not {count}")
    for board in cluster.boards:
        require(board.memory > 0 and 0 < board.clock < math.inf, f"{board} cannot be")
    return SAME if sections == CLUSTERS[name] else READ


def try_plan(trial: Trial) -> str:
    """A plan's file."""
    problem, texts = _plans()
    text = trial.random.choice(texts)
    path, whole = _damaged(trial, tomllib.loads(text))
    try:
        plan = load_plan(path, problem)
    except DescriptionError as error:
        require(not whole, f"a plan that is not damaged is refused: {error}")
        return refused(error, [str(path)])
    require(0 < plan.seconds < math.inf, f"a step takes {plan.seconds} s")
    again = tomllib.loads(plan_text(problem, plan))
    sections = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    for share, keys in zip(again["shares"].values(), sections["shares"].values(), strict=True):
        require(all(share["boards"][place] == name
                    for place, name in enumerate(_listed(keys["boards"]))), "other boards")
    return SAME if whole else READ


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@cache
def _plans() -> tuple[Problem, list[str]]:
    """A small problem, and its plans as texts."""
    problem = Problem.of_network(
        load_cluster("u50-4"), Network.of_widths([24, 8, 8, 8, 4]),
        Statistics(vertices=(400,) * 5, edges=(2000,) * 4, sampled=True), micro_batches=8)
    return problem, [plan_text(problem, plan) for plan in search(problem).plans]


def _damaged(trial: Trial, sections: dict[str, Any]) -> tuple[Path, bool]:
    """A file with sections after some damage, and whether there was none."""
    path, random = trial.folder / "boards.toml", trial.random
    whole = trial.chance(0.05)
    if whole or trial.chance(0.4):
        path.write_text(tomli_w.dumps(sections), encoding="utf-8")
        if not whole:
            trial.note(damage_file(random, path))
        return path, whole
    changed, text = damaged_tree(random, sections)
    try:
        path.write_text(tomli_w.dumps(changed), encoding="utf-8")
    except (TypeError, ValueError, AttributeError, RecursionError):  # no value of such files
        path.write_text("", encoding="utf-8")
    trial.note(text)
    return path, False
