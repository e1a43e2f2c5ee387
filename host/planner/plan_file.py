# SPDX-License-Identifier: BSD-2-Clause
"""Plans as files: every number can be edited by hand, and is checked when it is read."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import tomli_w

from hypercast.host.cluster.board import Board
from hypercast.host.description.conversion import DescriptionError, Within, checked
from hypercast.host.description.document import read_document
from hypercast.host.planner.operators import size_text
from hypercast.host.planner.pipelines import BoardStage, Discipline, evaluated
from hypercast.host.planner.plan import NOT_YET, Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.strategies import (
    bapipe,
    equal_layers,
    gnnpipe,
    graph_parts,
    graphpipe,
    one_board,
    pipedream,
    piper,
    samples,
    vertex_cut,
)
from hypercast.host.schedules.schedule import SCHEDULES

__all__ = ["load_plan", "plan_boards", "plan_divisions", "plan_of_sections", "plan_text"]

Found = TypeVar("Found")

_SECTIONS = ("plan", "training", "shares")
#: More vertices, micro-batches or pieces of layers no training has.
_COUNT = Annotated[int, Within(1, (1 << 31) - 1)]
#: A smaller share of a graph has no vertex.
_PART = Annotated[float, Within(1e-9, 1)]
_PLAN_HINTS = {"strategy": str, "schedule": str, "pieces": _COUNT, "split": tuple[_COUNT, ...]}
_TRAINING_HINTS = {"vertices": tuple[int, ...], "edges": tuple[int, ...],
                   "layers": tuple[str, ...], "boards": tuple[str, ...], "micro_batches": int}
_SHARE_HINTS = {"boards": tuple[str, ...], "layers": tuple[_COUNT, ...], "in_flight": _COUNT,
                "micro_batches": _COUNT, "part": _PART}
_DISCIPLINES = {one.strategy: one for one in (
    one_board.DISCIPLINE, bapipe.DISCIPLINE, equal_layers.GPIPE, equal_layers.ONE_BY_ONE,
    gnnpipe.DISCIPLINE, graphpipe.DISCIPLINE, piper.DISCIPLINE, pipedream.DISCIPLINE,
    pipedream.TWO_VERSIONS)}
#: Strategies whose boards have parts of one thing, and the key that says how much.
_PARTED = {samples.NAME: "micro_batches", graph_parts.EXACT_NAME: "part",
           graph_parts.STALE_NAME: "part", vertex_cut.NAME: "part"}
#: How far the sum of parts may be from 1.
_SLIP = 1e-3


def plan_text(problem: Problem, plan: Plan) -> str:
    """A plan as a TOML file, which ``load_plan`` reads."""
    chosen: dict[str, Any] = {"strategy": plan.strategy, "pieces": plan.pieces}
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
            + tomli_w.dumps({"plan": chosen, "training": _training(problem), "shares": shares}))


class _Values(NamedTuple):
    """Keys and values of a plan's sections, each value of its kind."""

    plan: dict[str, Any]
    training: dict[str, Any]
    shares: dict[str, dict[str, Any]]


def load_plan(path: Path, problem: Problem) -> Plan:
    """The ``Plan`` in a file, with what it takes as it is there.

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
        {_boards_of(values), values.plan.get("pieces", 1)} - {1}))


def plan_of_sections(sections: Mapping[str, Any], problem: Problem) -> Plan:
    """The ``Plan`` of the sections of a file.

    Raises
    ------
    DescriptionError
        If it makes no sense, or is for another training or other boards.
    """
    return _plan_of(_checked_values(sections), problem)


def _of_file(path: Path, reading: Callable[[_Values], Found]) -> Found:
    """What something makes of a file's values; its errors name file and line."""
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
        shares[section] = checked(section, keys, _SHARE_HINTS)
    return _Values(checked("plan", sections.get("plan", {}), _PLAN_HINTS),
                   checked("training", sections.get("training", {}), _TRAINING_HINTS), shares)


def _boards_of(values: _Values) -> int:
    if count := sum(len(share.get("boards", ())) for share in values.shares.values()):
        return count
    raise DescriptionError("this is no plan, for no section like [shares.1] has boards; take a "
                           "file that hypercast plan -o wrote", "shares")


def _plan_of(values: _Values, problem: Problem) -> Plan:
    given = values.plan
    _check_training(values.training, problem)
    known = [*_DISCIPLINES, *_PARTED]
    strategy: str = given.get("strategy", "none")
    if strategy not in known:
        raise DescriptionError(f"[plan] strategy must be one of {', '.join(known)}, not "
                               f"{_short(strategy)}", "plan", "strategy")
    split = given.get("split", ())
    if "split" in given:
        try:
            problem = problem.split(split)
        except ValueError as error:
            raise DescriptionError(f"[plan] split: {error}", "plan", "split") from error
    shares = _shares(values.shares, problem)
    _check_keys(strategy, given, shares, problem)
    try:
        if strategy in _PARTED:
            found = _parted(problem, strategy, shares)
        else:
            found = _pipelined(problem, _DISCIPLINES[strategy], given, shares)
    except DescriptionError:
        raise
    except ValueError as error:
        raise DescriptionError(f"{error}; correct layers and in_flight of the shares", "shares"
                               ) from error
    if isinstance(found, str):
        raise DescriptionError(found, "shares")
    return replace(found, split=split, trains=NOT_YET if split else found.trains)


def _check_keys(strategy: str, given: Mapping[str, Any], shares: Mapping[str, dict[str, Any]],
                problem: Problem) -> None:
    """Refuse keys of other strategies, and those that some shares have and others have not."""
    own = _PARTED.get(strategy, "in_flight")
    for section, share in shares.items():
        for key in {*_SHARE_HINTS} - {"boards", "layers", own}:
            if key in share:
                raise DescriptionError(f"[{section}] has {key}, which says nothing of {strategy}; "
                                       f"leave it out", section, key)
        if own not in share and any(own in other for other in shares.values()):
            raise DescriptionError(f"[{section}] has no {own}, but another share has; give it to "
                                   f"all of them, or to none", section)
    if strategy not in _PARTED:
        return
    if "schedule" in given:
        raise DescriptionError(f"[plan] has a schedule, which says nothing of {strategy}; leave it "
                               f"out", "plan", "schedule")
    pieces = problem.micro_batches if strategy == samples.NAME else 1
    if given.get("pieces", pieces) != pieces:
        raise DescriptionError(f"[plan] pieces must be {pieces} for {strategy}, not "
                               f"{given['pieces']}; correct it", "plan", "pieces")


def _training(problem: Problem) -> dict[str, Any]:
    """What a plan is for."""
    layers = [layer.network.layers[layer.number - 1] for layer in problem.layers]
    statistics = problem.statistics
    every = slice(1 if statistics.square else None)
    return {
        "vertices": list(statistics.vertices[every]), "edges": list(statistics.edges[every]),
        "layers": [f"{one.features_in} to {one.features_out}, {one.order}" for one in layers],
        "micro_batches": problem.micro_batches,
        "boards": [f"{board.name}: {board.kind}" for board in problem.boards]}


def _check_training(given: Mapping[str, Any], problem: Problem) -> None:
    for key, expected in _training(problem).items():
        found = given.get(key)
        if (list(found) if isinstance(found, tuple) else found) != expected:
            what = {"vertices": "graph", "edges": "graph", "layers": "network",
                    "boards": "cluster"}.get(key, "training")
            raise DescriptionError(
                f"[training] {key} is {_short(found)}, but that of this {what} is "
                f"{_short(expected)}; the plan is for another {what}, so plan anew", "training",
                key)


def _short(value: object) -> str:
    text = str(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 80 else f"{text[:60]} ... {text[-15:]}"


def _shares(shares: Mapping[str, dict[str, Any]],
            problem: Problem) -> dict[str, dict[str, Any]]:
    """The shares by the names of their sections, with ``Board`` s for their names."""
    if not shares:
        raise DescriptionError("there are no shares; give sections like [shares.1] with boards "
                               "and layers", "shares")
    boards = {board.name: board for board in problem.boards}
    found, taken = {}, set[str]()
    for section, given in shares.items():
        for key, what in (("boards", "a share without boards"), ("layers", "a stage without work")):
            if not given.get(key):
                raise DescriptionError(f"[{section}] has no {key}: {what}; give some, or leave the "
                                       f"section out", section, key)
        for board in given["boards"]:
            if board not in boards:
                raise DescriptionError(f"[{section}] boards has {_short(board)}, which the cluster "
                                       f"has not; there are {', '.join(boards)}", section, "boards")
            if board in taken:
                raise DescriptionError(f"[{section}] boards has {board}, which another share has, "
                                       f"too; each board has one share", section, "boards")
            taken.add(board)
        for layer in given["layers"]:
            if not 1 <= layer <= len(problem.layers):
                raise DescriptionError(f"[{section}] layers has {layer}, but the network has "
                                       f"layers 1 to {len(problem.layers)}", section, "layers")
        found[section] = {**given, "boards": tuple(boards[one] for one in given["boards"])}
    return found


def _pipelined(problem: Problem, discipline: Discipline, given: Mapping[str, Any],
               shares: Mapping[str, dict[str, Any]]) -> Plan | str:
    schedule, pieces = given.get("schedule", ""), given.get("pieces", 1)
    if schedule not in SCHEDULES:
        raise DescriptionError(f"[plan] schedule must be one of {', '.join(SCHEDULES)}, not "
                               f"{_short(schedule)}", "plan", "schedule")
    most = problem.statistics.vertices[0]
    if not (1 <= pieces <= most if discipline.chunked else pieces == problem.micro_batches):
        wanted = f"1 to {most}, the vertices" if discipline.chunked else \
            f"{problem.micro_batches}, the micro-batches of a step"
        raise DescriptionError(f"[plan] pieces must be {wanted}, not {pieces}", "plan", "pieces")
    owner: dict[int, str] = {}
    for section, share in shares.items():
        if len(share["boards"]) > pieces:
            raise DescriptionError(
                f"[{section}] boards has {len(share['boards'])}, but they take "
                f"{pieces} micro-batch{'es' if pieces > 1 else ''} of a step in turn, so that some "
                f"have no work; take as many or fewer", section, "boards")
        for layer in share["layers"]:
            if owner.get(layer) == section:
                raise DescriptionError(f"[{section}] layers has {layer} twice; give it once",
                                       section, "layers")
            if layer in owner:
                raise DescriptionError(f"[{section}] layers has {layer}, which [{owner[layer]}] "
                                       f"has, too; each layer is in one stage", section, "layers")
            owner[layer] = section
    if missing := {*problem.numbers} - owner.keys():
        raise DescriptionError(f"no share has layer {min(missing)}; add it to one", "shares")
    count = sum(len(share["boards"]) for share in shares.values())
    if discipline.versions == 2 and problem.micro_batches < count:
        raise DescriptionError(
            f"{discipline.strategy} needs as many micro-batches as boards, {count}, not "
            f"{problem.micro_batches}; {problem.more_micro_batches}, or give it fewer boards",
            "shares")
    stages = [BoardStage(tuple(sorted(layer - 1 for layer in share["layers"])), share["boards"])
              for share in shares.values()]
    flights = [share.get("in_flight") for share in shares.values()]
    if discipline.on(stages).flush and not SCHEDULES[schedule].forward_first:
        for section, flight in zip(shares, flights, strict=True):
            if flight and flight > pieces:
                raise DescriptionError(
                    f"[{section}] in_flight is {flight}, but a step has {pieces} micro-batch"
                    f"{'es' if pieces > 1 else ''}; give as many or fewer", section, "in_flight")
    return evaluated(problem, discipline, stages, schedule, chunks=pieces,
                     in_flight=None if None in flights else [one for one in flights if one])


def _parted(problem: Problem, strategy: str, shares: Mapping[str, dict[str, Any]]) -> Plan | str:
    key = _PARTED[strategy]
    boards: list[Board] = []
    values: list[Any] = []
    for section, share in shares.items():
        if len(share["boards"]) != 1 or tuple(share["layers"]) != problem.numbers:
            raise DescriptionError(f"[{section}] must have one board and all layers, 1 to "
                                   f"{len(problem.layers)}, for {strategy}", section)
        if key not in share:
            raise DescriptionError(f"[{section}] has no {key}: a board without work; give it to "
                                   f"all shares", section, key)
        boards += share["boards"]
        values.append(share[key])
    if len(boards) < 2:
        raise DescriptionError(f"{strategy} needs two shares at least, not one", "shares")
    total, wanted = sum(values), problem.micro_batches if key == "micro_batches" else 1
    if abs(total - wanted) > _SLIP * (key == "part"):
        raise DescriptionError(f"{key} of all shares must sum up to {wanted}, not {total:g}; "
                               f"correct them",
                               "shares", "")
    problem.cluster.require_joined(boards)
    if strategy == samples.NAME:
        return samples.evaluated_samples(problem, boards, values)
    if problem.statistics.sampled:
        raise DescriptionError(f"{strategy} works on the whole graph; leave --sampler out", "plan",
                               "strategy")
    if strategy == vertex_cut.NAME:
        return vertex_cut.evaluated_cut(problem, boards, values)
    return graph_parts.evaluated_parts(problem, boards, parts=values,
                                       hidden=strategy == graph_parts.STALE_NAME)
