# SPDX-License-Identifier: BSD-2-Clause
"""A plan as lines of text."""

from collections.abc import Iterator

from hypercast.host.planner.operators import size_text
from hypercast.host.planner.plan import NOT_YET, Plan
from hypercast.host.planner.problem import Problem

__all__ = ["plan_lines"]


def plan_lines(plan: Plan, problem: Problem) -> Iterator[str]:
    """The chosen strategy, and a line for each share."""
    alone = "; hypercast train cannot do it yet" if plan.trains == NOT_YET else ""
    yield f"chosen: {plan.strategy} ({plan.scheme}), {plan.seconds * 1e3:.4g} ms a step{alone}"
    if plan.split:
        problem = problem.split(plan.split)
    for share in plan.shares:
        first, last = min(share.layers), max(share.layers)
        names = [problem.layers[number - 1].name for number in share.layers]
        layers = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" \
            if last - first == len(names) - 1 else ", ".join(names)
        more = [f"{share.in_flight} in flight" if share.in_flight else "",
                f"{share.micro_batches} samples" if share.micro_batches else "",
                f"{share.part:.1%} of it" if share.part else ""]
        memory = max(plan.memory[name] for name in share.boards)
        yield f"  {', '.join(share.boards)}: {layers}, " + ", ".join(
            filter(None, (*more, size_text(memory))))
