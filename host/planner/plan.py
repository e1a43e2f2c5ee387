# SPDX-License-Identifier: BSD-2-Clause
"""Plans: who does what, what it takes, and why an alternative falls out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.schedules.execution import PipelineInterval

__all__ = ["ANYTHING", "EXACT", "NOT_YET", "REFERENCES", "TRAINS", "Plan", "PlannedShare",
           "Refusal", "fastest", "pareto"]

#: What a plan without staleness says of it.
EXACT = "none"
#: What ``hypercast train`` can do a plan on: all devices; with ``--boards``, references only; or
#: nothing, so far.
TRAINS = ANYTHING, REFERENCES, NOT_YET = ("yes", "references", "not yet")


@dataclass(frozen=True, kw_only=True)
class PlannedShare:
    """The share of some boards.

    Parameters
    ----------
    boards : tuple of str
        The boards. Boards of a pipeline's stage take micro-batches in turn.
    layers : tuple of int
        The layers they compute, from 1.
    in_flight : int, optional
        In a pipeline: micro-batches that a board has begun and not done, at most.
    micro_batches : int, optional
        With samples in parallel: how many of a step each board takes.
    part : float, optional
        With a graph in parts: which share of the vertices, or of the edges, each board has.
    """

    boards: tuple[str, ...]
    layers: tuple[int, ...]
    in_flight: int | None = None
    micro_batches: int | None = None
    part: float | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A way to train, and what it takes.

    Parameters
    ----------
    strategy : str
        Which strategy found it.
    scheme : str
        How boards work together.
    schedule : str
        In which order: one of ``SCHEDULES``; empty if there is nothing to choose.
    units : int
        Micro-batches of a step; or, where chunks of the graph go through layers, these.
    shares : tuple of PlannedShare
        Who does what.
    split : tuple of int
        Into how many slices each layer is split by its columns; empty if none is. Then a share's
        layers are numbers of slices.
    seconds : float
        Predicted time of a step: the mean of an epoch's, if its samples are known.
    memory : dict
        Bytes that each board needs, by its name.
    traffic : float
        Bytes that cross between boards in a step.
    staleness : str
        What is older than it would be on one board; ``EXACT`` if nothing is.
    assignment : Assignment, optional
        What each board does in training; None if it cannot be trained yet.
    only_references : bool
        Whether several boards that train it have to be reference devices.
    intervals : tuple of PipelineInterval
        Who is busy when; empty if one step is like the others for all.
    """

    strategy: str
    scheme: str
    schedule: str = ""
    units: int = 1
    shares: tuple[PlannedShare, ...]
    seconds: float
    memory: Mapping[str, int]
    traffic: float = 0.0
    staleness: str = EXACT
    assignment: Assignment | None = None
    only_references: bool = False
    intervals: tuple[PipelineInterval, ...] = ()
    split: tuple[int, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether it gives the bits of one board."""
        return self.staleness == EXACT

    @property
    def trains(self) -> str:
        """The devices on which ``hypercast train`` can follow it: one of ``TRAINS``."""
        if not self.assignment:
            return NOT_YET
        return REFERENCES if self.only_references else ANYTHING

    @property
    def fullest(self) -> int:
        """Bytes of the board that needs most."""
        return max(self.memory.values())

    @property
    def boards(self) -> tuple[str, ...]:
        """The boards that take part."""
        return tuple(dict.fromkeys(name for share in self.shares for name in share.boards))


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why a strategy gives no plan.

    Parameters
    ----------
    strategy : str
        Which strategy.
    reason : str
        Why, in a line.
    """

    strategy: str
    reason: str


def fastest(plans: Iterable[Plan]) -> Iterator[Plan]:
    """The fastest plan; and if there are devices that cannot train it, the fastest that they can.

    Parameters
    ----------
    plans : iterable of Plan
        All of one strategy.
    """
    able = len(TRAINS)
    for plan in sorted(plans, key=lambda plan: (plan.seconds, TRAINS.index(plan.trains))):
        if TRAINS.index(plan.trains) < able:
            yield plan
            able = TRAINS.index(plan.trains)


def pareto(plans: tuple[Plan, ...]) -> list[Plan]:
    """The plans that no other one beats in time and memory of the fullest board, by time.

    Exact plans are compared with exact ones only, others with all.
    """
    found: list[Plan] = []
    for plan in sorted(plans, key=lambda plan: (plan.seconds, plan.fullest, not plan.exact)):
        rivals = [other for other in found if other.exact or not plan.exact]
        if all(plan.fullest < other.fullest for other in rivals):
            found.append(plan)
    return found
