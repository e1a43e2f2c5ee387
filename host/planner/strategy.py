# SPDX-License-Identifier: BSD-2-Clause
"""A strategy: a way to split a training over boards, with all that the planner asks of it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypercast.host.cluster.board import Board
from hypercast.host.description.description import Description
from hypercast.host.planner.plan import Plan, Refusal
from hypercast.host.planner.problem import Problem

__all__ = ["GivenPlan", "GivenShare", "Strategy", "shorten"]


class GivenShare(NamedTuple):
    """A share of a plan's file.

    Attributes
    ----------
    section : str
        Name of the section, as errors have it.
    boards : tuple of Board
        The boards that are named.
    layers : tuple of int
        The layers, from 1, in the order of the file.
    amount : int, float or None
        What the strategy's ``share_key`` says; None if no share has it.
    """

    section: str
    boards: tuple[Board, ...]
    layers: tuple[int, ...]
    amount: Any


class GivenPlan(NamedTuple):
    """A plan's file, as far as all strategies read it alike.

    Attributes
    ----------
    schedule : str or None
        Name of the schedule, if there is one; any text.
    units : int or None
        Micro-batches of a step, or chunks of the graph, if there is a number.
    shares : tuple of GivenShare
        At least one. Each has boards of the problem, no other share has them, and layers.
    """

    schedule: str | None
    units: int | None
    shares: tuple[GivenShare, ...]


def _keep_description(description: Description, _: Plan) -> Description:
    return description


def _none(_: int) -> Iterable[int]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """A way to split a training over boards.

    Plans that it makes, or reads, say what each board does in training (``Plan.assignment``).

    Parameters
    ----------
    name : str
        Name in tables and in the files of plans.
    share_key : str
        Key of a file's shares that says how much of the training each has: ``in_flight``,
        ``micro_batches`` or ``part``.
    plans : callable
        Yields the best ``Plan`` of a ``Problem``, as ``fastest`` does, or the ``Refusal`` that says
        why there is none.
    evaluate : callable
        Makes the ``Plan`` of a ``Problem`` and a ``GivenPlan``, or says why it is none. Raises
        ``DescriptionError`` if the file makes no sense.
    describe : callable
        Makes the ``Description`` of a ``Plan``'s training from the planned ``Description``; the
        same one, if not given.
    counts : callable
        Yields the numbers of parts, or of chunks, that it divides a whole graph into, for a number
        of boards; none, if not given.
    """

    name: str
    share_key: str
    plans: Callable[[Problem], Iterator[Plan | Refusal]]
    evaluate: Callable[[Problem, GivenPlan], Plan | str]
    describe: Callable[[Description, Plan], Description] = _keep_description
    counts: Callable[[int], Iterable[int]] = _none


def shorten(value: object) -> str:
    """A value of a plan's file, as errors name it: of a long one, its begin and its end."""
    text = str(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 80 else f"{text[:60]} ... {text[-15:]}"
