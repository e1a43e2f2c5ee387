# SPDX-License-Identifier: BSD-2-Clause
"""Asks every strategy, and compares what they found."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hypercast.errors import InputError
from hypercast.host.planner.plan import ANYTHING, REFERENCES, Plan, Refusal, pareto
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.strategies import STRATEGIES

__all__ = ["PlanComparison", "search"]


@dataclass(frozen=True)
class PlanComparison:
    """The plans and refusals of all strategies.

    Parameters
    ----------
    plans : tuple of Plan
        The best plans of each, by time.
    refusals : tuple of Refusal
        Why the others have none.
    """

    plans: tuple[Plan, ...]
    refusals: tuple[Refusal, ...]

    @property
    def pareto(self) -> list[Plan]:
        """The plans that no other one beats in time and memory."""
        return pareto(self.plans)

    def best(self, staleness: bool) -> Plan:
        """The fastest plan; without ``staleness``, of the plans that give the bits of one board.

        Raises
        ------
        InputError
            If there is none.
        """
        return self._first(plan for plan in self.plans if staleness or plan.exact)

    def fastest_for(self, device: str, staleness: bool) -> Plan:
        """The fastest plan that a device, by its name, can train.

        Without ``staleness``, it gives the bits of one board.

        Raises
        ------
        InputError
            If there is none.
        """
        able = (ANYTHING, REFERENCES) if device == "reference" else (ANYTHING,)
        return self._first(plan for plan in self.plans
                           if (staleness or plan.exact) and plan.trains in able)

    def _first(self, plans: Iterator[Plan]) -> Plan:
        for plan in plans:
            return plan
        reasons = "; ".join(f"{one.strategy}: {one.reason}" for one in self.refusals[:3])
        raise InputError(f"no way to train on these boards fits: {reasons}")


def search(problem: Problem, progress: Callable[[str], None] = lambda text: None) -> PlanComparison:
    """The best plans of each strategy."""
    plans, refusals = list[Plan](), list[Refusal]()
    for name, strategy in STRATEGIES.items():
        progress(name)
        for one in strategy.plans(problem):
            if isinstance(one, Plan):
                plans.append(one)
            else:
                refusals.append(one)
    return PlanComparison(tuple(sorted(plans, key=lambda plan: plan.seconds)), tuple(refusals))
