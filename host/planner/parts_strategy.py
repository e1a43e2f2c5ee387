# SPDX-License-Identifier: BSD-2-Clause
"""Strategies whose boards have all layers each, and a part of the graph or samples."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hypercast.host.cluster.board import Board
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.planner.plan import Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.strategy import GivenPlan, Strategy

__all__ = ["MICRO_BATCHES", "PART", "parts_strategy"]

#: Keys that say how much a board has: samples of a step, or a share of a whole graph.
MICRO_BATCHES, PART = "micro_batches", "part"
#: How far the sum of parts may be from 1.
_SLIP = 1e-3


def parts_strategy(name: str, share_key: str,
                   evaluate: Callable[[Problem, Sequence[Board], Sequence[Any]], Plan | str],
                   **more: Any) -> Strategy:
    """A ``Strategy`` of some boards with a part each.

    Parameters
    ----------
    name : str
        As in ``Strategy``.
    share_key : str
        ``MICRO_BATCHES`` or ``PART``.
    evaluate : callable
        Makes the plan of a problem, boards, and how much each has; or says why it is none.
    **more
        As in ``Strategy``.
    """
    return Strategy(name=name, share_key=share_key,
                    evaluate=partial(_evaluate, name, share_key, evaluate), **more)


def _evaluate(name: str, key: str,
              evaluate: Callable[[Problem, Sequence[Board], Sequence[Any]], Plan | str],
              problem: Problem, given: GivenPlan) -> Plan | str:
    if given.schedule is not None:
        raise DescriptionError(f"[plan] has a schedule, which says nothing of {name}; leave it "
                               f"out", "plan", "schedule")
    samples = key == MICRO_BATCHES
    units = problem.micro_batches if samples else 1
    if given.units not in (None, units):
        raise DescriptionError(f"[plan] units must be {units} for {name}, not {given.units}; "
                               f"correct it", "plan", "units")
    for section, own, layers, amount in given.shares:
        if len(own) != 1 or layers != problem.numbers:
            raise DescriptionError(f"[{section}] must have one board and all layers, 1 to "
                                   f"{len(problem.layers)}, for {name}", section)
        if amount is None:
            raise DescriptionError(f"[{section}] has no {key}: a board without work; give it to "
                                   f"all shares", section, key)
    boards = [share.boards[0] for share in given.shares]
    amounts = [share.amount for share in given.shares]
    if len(boards) < 2:
        raise DescriptionError(f"{name} needs two shares at least, not one", "shares")
    total, wanted = sum(amounts), problem.micro_batches if samples else 1
    if abs(total - wanted) > (0 if samples else _SLIP):
        raise DescriptionError(f"{key} of all shares must sum up to {wanted}, not {total:g}; "
                               f"correct them", "shares", "")
    problem.cluster.require_joined(boards)
    if problem.statistics.sampled and not samples:
        raise DescriptionError(f"{name} works on the whole graph; leave --sampler out", "plan",
                               "strategy")
    return evaluate(problem, boards, amounts)
