# SPDX-License-Identifier: BSD-2-Clause
"""Plans as files: every number can be edited by hand, and is checked when it is read."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import tomli_w

from hypercast.host.description.conversion import DescriptionError, Within, check
from hypercast.host.description.document import read_document
from hypercast.host.planner.operators import size_text
from hypercast.host.planner.plan import Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.strategies import STRATEGIES
from hypercast.host.planner.strategy import GivenPlan, GivenShare, Strategy, shorten

__all__ = ["load_plan", "plan_boards", "plan_divisions", "plan_of_sections", "plan_text"]

Found = TypeVar("Found")

_SECTIONS = ("plan", "training", "shares")
#: More vertices, micro-batches or slices of layers no training has.
_COUNT = Annotated[int, Within(1, (1 << 31) - 1)]
#: A smaller share of a graph has no vertex.
_PART = Annotated[float, Within(1e-9, 1)]
_PLAN_HINTS = {"strategy": str, "schedule": str, "units": _COUNT, "split": tuple[_COUNT, ...]}
_TRAINING_HINTS = {"vertices": tuple[int, ...], "edges": tuple[int, ...],
                   "layers": tuple[str, ...], "boards": tuple[str, ...], "micro_batches": int}
_SHARE_HINTS = {"boards": tuple[str, ...], "layers": tuple[_COUNT, ...], "in_flight": _COUNT,
                "micro_batches": _COUNT, "part": _PART}


def plan_text(problem: Problem, plan: Plan) -> str:
    """A plan as a TOML file, which ``load_plan`` reads."""
    chosen: dict[str, Any] = {"strategy": plan.strategy, "units": plan.units}
    if plan.schedule:
        chosen["schedule"] = plan.schedule
    if plan.split:
        chosen["split"] = plan.split
    shares = {str(number): {key: value for key, value in (
        ("boards", share.boards), ("layers", share.layers), ("in_flight", share.in_flight),
        ("micro_batches", share.micro_batches), ("part", share.part)) if value is not None}
        for number, share in enumerate(plan.shares, 1)}
    return (f"# {plan.scheme}: predicted {plan.seconds * 1e3:.6g} ms a step, "
            f"{size_text(plan.fullest)} on the fullest board.\n# Stale: {plan.staleness}.\n"
            + tomli_w.dumps({"plan": chosen, "training": _describe_training(problem),
                             "shares": shares}))


class _Values(NamedTuple):
    """Keys and values of a plan's sections, each value of its kind."""

    plan: dict[str, Any]
    training: dict[str, Any]
    shares: dict[str, dict[str, Any]]


def load_plan(path: Path, problem: Problem) -> Plan:
    """The ``Plan`` in a file, with its predicted seconds and memory.

    Raises
    ------
    DescriptionError
        If it makes no sense, or is for another training or other boards; names the line.
    """
    return _of_file(path, lambda values: _plan_of(values, problem))


def plan_boards(path: Path) -> int:
    """How many boards the plan in a file is for.

    Raises
    ------
    DescriptionError
        If a value is of another kind, or no board is named.
    """
    return _of_file(path, _boards_of)


def plan_divisions(path: Path) -> list[int]:
    """Into how many parts, or chunks, the plan in a file may divide a whole graph; as above."""
    return _of_file(path, lambda values: sorted(
        {_boards_of(values), values.plan.get("units", 1)} - {1}))


def plan_of_sections(sections: Mapping[str, Any], problem: Problem) -> Plan:
    """The ``Plan`` of the sections of a file.

    Raises
    ------
    DescriptionError
        If it makes no sense, or is for another training or other boards.
    """
    return _plan_of(_checked_values(sections), problem)


def _of_file(path: Path, reading: Callable[[_Values], Found]) -> Found:
    """The result of ``reading`` a file's values; errors name file and line."""
    document = read_document(path)
    try:
        return reading(_checked_values(document.sections))
    except DescriptionError as error:
        place = document.place(error.section, error.key)
        raise DescriptionError(f"{path}{place}: {error}", error.section, error.key) from error


def _checked_values(sections: Mapping[str, Any]) -> _Values:
    for name, value in sections.items():
        if name not in _SECTIONS or not isinstance(value, dict):
            raise DescriptionError(f"there is no {name} in a plan; there are sections [plan], "
                                   f"[training] and [shares.1], [shares.2] and so on", name)
    shares = {}
    for name, keys in sections.get("shares", {}).items():
        section = f"shares.{name}"
        if not isinstance(keys, dict):
            raise DescriptionError(f"shares must be sections like [shares.1], not {name} alone",
                                   "shares", name)
        shares[section] = check(section, keys, _SHARE_HINTS)
    return _Values(check("plan", sections.get("plan", {}), _PLAN_HINTS),
                   check("training", sections.get("training", {}), _TRAINING_HINTS), shares)


def _boards_of(values: _Values) -> int:
    if count := sum(len(share.get("boards", ())) for share in values.shares.values()):
        return count
    raise DescriptionError("this is no plan, for no section like [shares.1] has boards; take a "
                           "file that hypercast plan -o wrote", "shares")


def _plan_of(values: _Values, problem: Problem) -> Plan:
    given = values.plan
    _check_training(values.training, problem)
    name: str = given.get("strategy", "none")
    if name not in STRATEGIES:
        raise DescriptionError(f"[plan] strategy must be one of {', '.join(STRATEGIES)}, not "
                               f"{shorten(name)}", "plan", "strategy")
    strategy, split = STRATEGIES[name], given.get("split", ())
    if "split" in given:
        try:
            problem = problem.split(split)
        except ValueError as error:
            raise DescriptionError(f"[plan] split: {error}", "plan", "split") from error
    shares = _shares(values.shares, problem, strategy)
    try:
        found = strategy.evaluate(problem, GivenPlan(
            given.get("schedule"), given.get("units"), shares))
    except DescriptionError:
        raise
    except ValueError as error:
        raise DescriptionError(f"{error}; correct layers and in_flight of the shares", "shares"
                               ) from error
    if isinstance(found, str):
        raise DescriptionError(found, "shares")
    return replace(found, split=split, assignment=None if split else found.assignment)


def _check_keys(shares: Mapping[str, dict[str, Any]], strategy: Strategy) -> None:
    """Refuse keys of other strategies, and keys that only some shares have."""
    own = strategy.share_key
    for section, share in shares.items():
        for key in share:
            if key not in ("boards", "layers", own):
                raise DescriptionError(f"[{section}] has {key}, which says nothing of "
                                       f"{strategy.name}; leave it out", section, key)
        if own not in share and any(own in other for other in shares.values()):
            raise DescriptionError(f"[{section}] has no {own}, but another share has; give it to "
                                   f"all of them, or to none", section)


def _describe_training(problem: Problem) -> dict[str, Any]:
    """The training that a plan is for."""
    layers = [layer.network.layers[layer.number - 1] for layer in problem.layers]
    statistics = problem.statistics
    every = slice(1 if statistics.square else None)
    return {
        "vertices": list(statistics.vertices[every]), "edges": list(statistics.edges[every]),
        "layers": [f"{one.features_in} to {one.features_out}, {one.order}" for one in layers],
        "micro_batches": problem.micro_batches,
        "boards": [f"{board.name}: {board.kind}" for board in problem.boards]}


def _check_training(given: Mapping[str, Any], problem: Problem) -> None:
    for key, expected in _describe_training(problem).items():
        found = given.get(key)
        if (list(found) if isinstance(found, tuple) else found) != expected:
            what = {"vertices": "graph", "edges": "graph", "layers": "network",
                    "boards": "cluster"}.get(key, "training")
            raise DescriptionError(
                f"[training] {key} is {shorten(found)}, but that of this {what} is "
                f"{shorten(expected)}; the plan is for another {what}, so plan anew", "training",
                key)


def _shares(shares: Mapping[str, dict[str, Any]], problem: Problem,
            strategy: Strategy) -> tuple[GivenShare, ...]:
    """The shares, with ``Board`` s for their names."""
    if not shares:
        raise DescriptionError("there are no shares; give sections like [shares.1] with boards "
                               "and layers", "shares")
    boards = {board.name: board for board in problem.boards}
    found, taken = list[GivenShare](), set[str]()
    for section, given in shares.items():
        for key, what in (("boards", "a share without boards"), ("layers", "a stage without work")):
            if not given.get(key):
                raise DescriptionError(f"[{section}] has no {key}: {what}; give some, or leave the "
                                       f"section out", section, key)
        for board in given["boards"]:
            if board not in boards:
                raise DescriptionError(
                    f"[{section}] boards has {shorten(board)}, which the cluster has not; there "
                    f"are {', '.join(boards)}", section, "boards")
            if board in taken:
                raise DescriptionError(f"[{section}] boards has {board}, which another share has, "
                                       f"too; each board has one share", section, "boards")
            taken.add(board)
        for layer in given["layers"]:
            if not 1 <= layer <= len(problem.layers):
                raise DescriptionError(f"[{section}] layers has {layer}, but the network has "
                                       f"layers 1 to {len(problem.layers)}", section, "layers")
        found.append(GivenShare(section, tuple(boards[one] for one in given["boards"]),
                                given["layers"], given.get(strategy.share_key)))
    _check_keys(shares, strategy)
    return tuple(found)
