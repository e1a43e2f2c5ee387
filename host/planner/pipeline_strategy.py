# SPDX-License-Identifier: BSD-2-Clause
"""Strategies whose plans are pipelines of layers, and how the files of such plans are read."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.planner.pipelines import BoardStage, Discipline, evaluate
from hypercast.host.planner.plan import Plan, Refusal
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.strategy import GivenPlan, Strategy, shorten
from hypercast.host.schedules.schedule import SCHEDULES

__all__ = ["pipeline_strategy"]


def pipeline_strategy(discipline: Discipline, plans: Callable[[Problem], Iterator[Plan | Refusal]],
                      counts: Callable[[int], Iterable[int]] | None = None) -> Strategy:
    """The ``Strategy`` of a discipline; ``plans`` and ``counts`` as it has them."""
    more: dict[str, Any] = {"counts": counts} if counts else {}
    return Strategy(name=discipline.strategy, share_key="in_flight", plans=plans,
                    evaluate=partial(_evaluate, discipline), **more)


def _evaluate(discipline: Discipline, problem: Problem, given: GivenPlan) -> Plan | str:
    schedule, units = given.schedule or "", given.units or 1
    if schedule not in SCHEDULES:
        raise DescriptionError(f"[plan] schedule must be one of {', '.join(SCHEDULES)}, not "
                               f"{shorten(schedule)}", "plan", "schedule")
    most = problem.statistics.vertices[0]
    if not (1 <= units <= most if discipline.chunked else units == problem.micro_batches):
        wanted = f"1 to {most}, the vertices" if discipline.chunked else \
            f"{problem.micro_batches}, the micro-batches of a step"
        raise DescriptionError(f"[plan] units must be {wanted}, not {units}", "plan", "units")
    _check_layers(problem, given, units)
    count = sum(len(share.boards) for share in given.shares)
    if discipline.versions == 2 and problem.micro_batches < count:
        raise DescriptionError(
            f"{discipline.strategy} needs as many micro-batches as boards, {count}, not "
            f"{problem.micro_batches}; {problem.more_micro_batches}, or give it fewer boards",
            "shares")
    stages = [BoardStage(tuple(sorted(layer - 1 for layer in share.layers)), share.boards)
              for share in given.shares]
    if discipline.on(stages).flush and not SCHEDULES[schedule].forward_first:
        for share in given.shares:
            if share.amount and share.amount > units:
                raise DescriptionError(
                    f"[{share.section}] in_flight is {share.amount}, but a step has {units} "
                    f"micro-batch{'es' if units > 1 else ''}; give as many or fewer",
                    share.section, "in_flight")
    flights = [share.amount for share in given.shares]
    return evaluate(problem, discipline, stages, schedule, chunks=units,
                    in_flight=None if None in flights else flights)


def _check_layers(problem: Problem, given: GivenPlan, units: int) -> None:
    """Refuse stages with too many boards, and layers that are in no stage or in several."""
    owner: dict[int, str] = {}
    for section, boards, layers, _ in given.shares:
        if len(boards) > units:
            raise DescriptionError(
                f"[{section}] boards has {len(boards)}, but they take "
                f"{units} micro-batch{'es' if units > 1 else ''} of a step in turn, so that some "
                f"have no work; take as many or fewer", section, "boards")
        for layer in layers:
            if owner.get(layer) == section:
                raise DescriptionError(f"[{section}] layers has {layer} twice; give it once",
                                       section, "layers")
            if layer in owner:
                raise DescriptionError(f"[{section}] layers has {layer}, which [{owner[layer]}] "
                                       f"has, too; each layer is in one stage", section, "layers")
            owner[layer] = section
    if missing := {*problem.numbers} - owner.keys():
        raise DescriptionError(f"no share has layer {min(missing)}; add it to one", "shares")
