# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast plan``: how to train on several boards."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hypercast.host.commands.description_options import (
    DESCRIPTION_GROUPS,
    describe,
    description_options,
)
from hypercast.host.commands.option_groups import CommandWithGroups
from hypercast.host.commands.options import OUTPUT, PICTURE, json_option, print_json
from hypercast.host.commands.output import make_console, print_table
from hypercast.host.commands.progress_text import ProgressText
from hypercast.host.commands.statistics_options import count, either, statistics_options
from hypercast.host.files.durable_file import write_durably

if TYPE_CHECKING:
    from hypercast.host.cluster.description import Cluster
    from hypercast.host.description.description import Description
    from hypercast.host.planner.plan import Plan
    from hypercast.host.planner.problem import Problem
    from hypercast.host.planner.search import PlanComparison

__all__ = ["plan"]

#: How edge weights are made that are not the same both ways.
_MEANS = ("mean", "neighbours")


@click.command(cls=CommandWithGroups, groups=DESCRIPTION_GROUPS)
@click.argument("dataset", required=False)
@click.option("--cluster", "source", required=True, metavar="FILE|NAME",
              help="The boards, and what joins them: a TOML or YAML file, or the name of a cluster "
                   "such as vcu128-4.")
@click.option("--staleness", is_flag=True,
              help="Choose among all plans, not only among those that give the bits of one board.")
@statistics_options
@click.option("-o", "--output", type=OUTPUT, metavar="FILE.toml", help="Write the chosen plan.")
@click.option("--evaluate", type=click.Path(exists=True, dir_okay=False), metavar="FILE.toml",
              help="Predict a plan that was written, and perhaps edited, instead of looking for "
                   "one.")
@click.option("--gantt", type=PICTURE, metavar="FILE.png",
              help="Draw the chosen plan's schedule.")
@json_option
@description_options
def plan(dataset: str | None, source: str, staleness: bool, vertices: tuple[int, ...] | None,
         edges: tuple[int, ...] | None, features: int | None, classes: int | None,
         degree_law: str, output: Path | None, evaluate: str | None, gantt: Path | None,
         as_json: bool, changes: dict[str, dict[str, Any]]) -> None:
    """Find how to train a network on DATASET with several boards.

    Every strategy says how it would split the training, and how long a step would take: by the
    cycle model, by the sizes of what crosses between boards, and by a simulation of the schedule.
    Not all of these plans can be trained yet; the table says which can, and hypercast train --plan
    does it.
    """
    from hypercast.host.cluster.description import load_cluster
    from hypercast.host.commands.plan_lines import plan_lines
    from hypercast.host.files.picture import picture
    from hypercast.host.planner.gantt import draw_gantt
    from hypercast.host.planner.plan_file import load_plan, plan_text
    from hypercast.host.planner.search import search
    from hypercast.host.planner.slowdowns import find_slowdowns
    from hypercast.host.training.planning import problem_of

    either(dataset, vertices)
    if evaluate and output:
        raise click.UsageError("--evaluate looks for no plan that -o could write; leave one out")
    cluster = load_cluster(source)
    cluster.require_joined()
    with ProgressText("plan") as progress:
        description = describe(dataset, changes)
        if vertices is None:
            progress.update("reading the graph")
            problem = problem_of(description, cluster, description.load_graph(),
                                 progress=progress.update)
        else:
            problem = _of_numbers(description, cluster, vertices, edges, features, classes,
                                  degree_law)
        if evaluate:
            chosen, found = load_plan(Path(evaluate), problem), None
        else:
            found = search(problem, progress.update)
            chosen = found.best(staleness)
    drawn = gantt and picture(draw_gantt(chosen), gantt)  # or there is nothing to draw
    if output:
        write_durably(output, plan_text(problem, chosen).encode())
    if gantt and drawn:
        write_durably(gantt, drawn)
    if as_json:
        print_json({"chosen": _document(chosen),
                    "slowdowns": find_slowdowns(chosen, problem),
                    "plans": [_document(one) for one in found.plans] if found else [],
                    "refused": {one.strategy: one.reason for one in found.refusals}
                    if found else {}})
        return
    if found:
        _print_comparison(problem, found)
    for line in plan_lines(chosen, problem):
        click.echo(line)
    for line in find_slowdowns(chosen, problem):
        click.echo(f"slower than it could be: {line}")
    for file in filter(None, (output, gantt)):
        click.echo(f"wrote {file}")


def _of_numbers(description: "Description", cluster: "Cluster", vertices: tuple[int, ...],
                edges: tuple[int, ...] | None, features: int | None, classes: int | None,
                law: str) -> "Problem":
    from hypercast.host.planner.statistics import Statistics
    from hypercast.host.training.planning import problem_of_network

    numbers = count(description, vertices, edges, features, classes)
    sampled = numbers.sampled or bool(description.sampling.sampler)
    return problem_of_network(description, cluster, numbers.network, Statistics(
        vertices=numbers.vertices, edges=numbers.edges, sampled=sampled, law=law,
        symmetric=not sampled and description.recipe.normalisation not in _MEANS))


def _document(plan: "Plan") -> dict[str, object]:
    return {"strategy": plan.strategy, "scheme": plan.scheme, "schedule": plan.schedule,
            "units": plan.units, "seconds": plan.seconds, "memory": dict(plan.memory),
            "traffic": plan.traffic, "staleness": plan.staleness, "split": plan.split,
            "trains": plan.trains,
            "shares": [{key: value for key, value in vars(share).items() if value is not None}
                       for share in plan.shares]}


def _print_comparison(problem: "Problem", found: "PlanComparison") -> None:
    from hypercast.host.planner.operators import size_text

    count, samples = len(problem.boards), problem.statistics.sampled
    what = f"{problem.micro_batches} samples" if samples else "the whole graph"
    best = found.pareto
    heads = ("strategy", "boards", "schedule", "ms", "memory", "sent", "stale", "trains")
    print_table(make_console(), heads, [
        (f"{'*' if one in best else ' '} {one.strategy}", str(len(one.boards)),
         f"{one.schedule}, {one.units}" if one.units > 1 else one.schedule,
         f"{one.seconds * 1e3:.4g}", size_text(one.fullest), size_text(one.traffic),
         one.staleness, one.trains) for one in found.plans],
        f"a step on {what}, {count} boards")
    click.echo("memory: of the fullest board; * none is faster with less of it; trains: whether "
               "hypercast train can do it (references: on several reference devices)")
    for refusal in found.refusals:
        click.echo(f"no {refusal.strategy}: {refusal.reason}")
