# SPDX-License-Identifier: BSD-2-Clause
"""The planner: schedules as derived, time of searches, and systems of the field side by side."""

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hypercast.benches.figure import Figure
from hypercast.benches.plan_trainings import TRAININGS, measure
from hypercast.benches.plan_workloads import CLUSTERS, WORKLOADS, branch, deep, unequal
from hypercast.host.cluster.description import load_cluster
from hypercast.host.cycle_model.orders import choose_orders
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.planner.pipelines import BoardStage, evaluate, schedules_for, stage_footprint
from hypercast.host.planner.plan import Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.search import PlanComparison, search
from hypercast.host.planner.strategies import bapipe, graphpipe, piper
from hypercast.host.planner.strategies.equal_layers import equal_stages
from hypercast.host.schedules.execution import PipelineTimeline
from hypercast.host.schedules.execution import run as simulated
from hypercast.host.schedules.pipeline import Pipeline, Stage
from hypercast.host.schedules.schedule import SCHEDULES
from hypercast.reference.network import Network
from hypercast.rtl.config import PRESETS

__all__ = ["run"]

#: Stages and micro-batches of the schedules.
_SIZES = ((4, 8), (4, 16), (8, 32))
#: Times for forward 1, backward 2, by schedule and transfer time, derived on paper.
_TIMES = {
    ("1F1B", 0): (33, 57, 117), ("GPipe", 0): (33, 57, 117), ("FBP", 0): (45, 69, 141),
    ("SO", 0.5): (36, 60, 124), ("SO", 1): (39, 63, 131), ("SO", 1.5): (42, 66, 138),
    ("SO", 3): (60, 93, 201), ("SNO", 0.5): (41, 71, 151), ("SNO", 1): (49, 85, 185),
    ("SNO", 1.5): (57, 99, 219), ("SNO", 3): (81, 141, 321), ("1F1B", 1): (33, 57, 117),
    ("1F1B", 1.5): (37, 64, 134)}
_HELD = (66, 114, 234)
#: Vertices, and entries of the adjacency matrix, of a graph of the size of Facebook's pages.
_VERTICES, _ENTRIES = 22_470, 364_476
#: Systems, and the systems that each is compared with.
_RIVALS = {
    "BaPipe": ("GPipe, equal layers", "samples in parallel", "PipeDream"),
    "GraphPipe": ("Piper", "BaPipe", "PipeDream"),
    "PipeDream": ("layers one after another", "samples in parallel"),
    "PipeDream-2BW": ("layers one after another", "samples in parallel", "PipeDream"),
    "PipeGCN": ("graph in parallel",), "GNNPipe": ("graph in parallel",),
    "CoFree-GNN": ("graph in parallel",)}
#: Factors that have to be reached: a system, a rival, a workload and a cluster.
_BARS = {("GraphPipe", "BaPipe", "branched network", ""): 1.3,
         ("PipeGCN", "graph in parallel", "", "vcu128-8-slow"): 1.7}


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used."""
    progress("schedules")
    figures = [*_schedules(), *_searches(progress), *_execute(progress)]
    found = {}
    for cluster in CLUSTERS:
        for name, make in WORKLOADS[cluster].items():
            progress(f"{name} on {cluster}")
            problem = make(load_cluster(cluster))
            found[name, cluster] = search(problem)
            if (name, cluster) == ("deep network, samples", "mixed"):
                figures += _balance(problem, f"{name}, {cluster}", None)
            if name == "deep network, whole graph":
                figures += _memory(problem, found[name, cluster], f"{name}, {cluster}")
    progress("64 layers on unequal boards")
    figures += _balance(deep(unequal(), 64, 64, 64),
                        "64 layers, 64 samples, six VCU128 and two U50", 1.5)
    slower: list[float] = []
    for (name, cluster), comparison in found.items():
        figures += _choose(f"{name}, {cluster}", comparison, slower)
    figures.append(Figure(name="chosen / fastest of a single strategy, the worst of all",
                          value=max(slower), bar=1.02, relation="<="))
    return figures + [one for system in _RIVALS for one in _factors(system, found)]


def _schedules() -> Iterator[Figure]:
    agree = total = 0
    for place, (stages, batches) in enumerate(_SIZES):
        for (name, sent), times in _TIMES.items():
            timeline = _work(stages, batches, name, sent)
            agree += timeline.seconds == times[place]
            total += 1
            if sent == 0 and name != "GPipe":
                factor = 2 if name == "FBP" else 1
                agree += list(timeline.peaks) == [factor * one for one in range(stages, 0, -1)]
                total += 1
        held = _work(stages, batches, "FBP", 0, in_flight=range(stages, 0, -1))
        agree += held.seconds == _HELD[place]
        total += 1
    yield Figure(name="values of schedules as derived", value=agree, bar=total, relation="=")


def _work(stages: int, batches: int, name: str, sent: float, **settings: Any) -> PipelineTimeline:
    stage = Stage(name="", forward=1, backward=2)
    pipeline = Pipeline.chain([stage] * stages, [sent] * (stages - 1))
    return simulated(pipeline, SCHEDULES[name], batches, **settings)


def _searches(progress: Callable[[str], None]) -> Iterator[Figure]:
    progress("64 layers on 16 boards")
    begin = time.process_time()
    search(deep(load_cluster("vcu128-16"), 64, 64))
    yield Figure(name="search, 64 layers on 16 boards, costs of layers included, on one processor",
                 value=time.process_time() - begin, unit="s", bar=10, relation="<=")
    orders = {}
    for layers in (32, 64):
        progress(f"orders of {layers} different layers")
        orders[layers] = _orders_seconds(layers)
        yield Figure(name=f"orders of {layers} different layers, on one processor",
                     value=orders[layers], unit="s")
    yield Figure(name="orders of 64 different layers / of 32", value=orders[64] / orders[32],
                 bar=3, unit="x", relation="<=")  # quadratic would be 4
    problem = branch(load_cluster("vcu128-8"), branches=4, length=6)
    assert problem.graph  # costs of layers are not a part of the searches
    seconds = {}
    for strategy in (graphpipe, piper):
        name = strategy.DISCIPLINE.strategy
        progress(f"{name}, {len(problem.layers)} operators")
        begin = time.process_time()
        if strategy is graphpipe:
            for count in range(2, len(problem.boards) + 1):
                graphpipe.partition(problem, count)
        else:
            piper.partition(problem)
        seconds[name] = time.process_time() - begin
        yield Figure(name=f"{name}: search, {len(problem.layers)} operators",
                     value=seconds[name], unit="s")
    yield Figure(name="Piper's search / GraphPipe's", unit="x", bar=9,
                 value=seconds["Piper"] / seconds["GraphPipe"])


def _orders_seconds(layers: int) -> float:
    """Seconds in which the orders of so many layers are chosen, all of different widths."""
    # From 33 to 96, in an order in which neighbours are seldom alike.
    network = Network.of_widths((64, *(
        33 + sum(range(number)) % 64 for number in range(1, layers)), 4))
    workload = Workload.of_statistics((_VERTICES,) * (layers + 1), (_ENTRIES,) * layers, network,
                                      PRESETS["vcu128"])
    begin = time.process_time()
    choose_orders(workload)
    return time.process_time() - begin


def _execute(progress: Callable[[str], None]) -> Iterator[Figure]:
    """Plans against the times of boards' virtual clocks when they were trained."""
    progress("trainings by plans")
    trainings = measure()
    for name, planned, taken in trainings:
        yield Figure(name=f"{name}: step as planned / as trained", value=planned / taken)
    yield Figure(name=f"of {len(TRAININGS)} trainings, those whose step takes what was planned, "
                      f"within a twentieth", bar=len(TRAININGS), relation="=",
                 value=sum(abs(planned / taken - 1) <= 0.05 for _, planned, taken in trainings))


def _balance(problem: Problem, title: str, bar: float | None) -> Iterator[Figure]:
    """Layers balanced by time against as many layers on each of all boards, same schedules."""
    stages = equal_stages(problem, problem.boards)
    equal = [evaluate(problem, bapipe.DISCIPLINE, stages, schedule)
             for schedule in schedules_for(stages)]
    balanced = [plan.seconds for plan in bapipe.plans(problem) if isinstance(plan, Plan)]
    yield Figure(name=f"{title}: as many layers on all boards / BaPipe", unit="x", bar=bar,
                 value=min(one.seconds for one in equal if isinstance(one, Plan)) / min(balanced))
    # As many layers take all boards as long as the slowest; the best is work by speed.
    speeds = [1 / problem.graph.seconds(range(len(problem.layers)), board)
              for board in problem.boards]
    yield Figure(name=f"{title}: the most that can be, by the speeds of these boards", unit="x",
                 value=sum(speeds) / len(speeds) / min(speeds))


def _memory(problem: Problem, comparison: PlanComparison, title: str) -> Iterator[Figure]:
    """The fullest board of a plan against the memory that one board alone would need."""
    board = problem.fastest[0]
    alone = stage_footprint(problem, BoardStage(
        tuple(range(len(problem.layers))), (board,)), board, 1).bytes_on(board)
    exact = [plan for plan in comparison.plans if plan.exact]
    for least in sorted(exact, key=lambda plan: plan.fullest)[:1]:
        yield Figure(name=f"{title}: one board's memory / fullest board's, {least.strategy}",
                     value=alone / least.fullest, unit="x", bar=4)


def _choose(title: str, comparison: PlanComparison, slower: list[float]) -> Iterator[Figure]:
    """The chosen plan; ``slower`` gets how much slower it is than the fastest."""
    for staleness in (False, True):
        allowed = [plan for plan in comparison.plans if staleness or plan.exact]
        if allowed:
            chosen = comparison.best(staleness)
            kind = "stale allowed" if staleness else "exact"
            yield Figure(name=f"{title}, {kind}: {chosen.strategy}, {len(chosen.boards)} boards",
                         value=chosen.seconds * 1e3, unit="ms")
            slower.append(chosen.seconds / min(plan.seconds for plan in allowed))


def _factors(system: str, found: dict[tuple[str, str], PlanComparison]) -> Iterator[Figure]:
    """A system against its rivals: where it gains most, and where it loses most."""
    for rival in _RIVALS[system]:
        factors = {}
        for place, comparison in found.items():
            seconds = {plan.strategy: plan.seconds for plan in reversed(comparison.plans)}
            if system in seconds and rival in seconds:
                factors[place] = seconds[rival] / seconds[system]
        for key, bar in _BARS.items():
            if key[:2] == (system, rival):
                some = {place: factor for place, factor in factors.items()
                        if all(not wanted or wanted in is_
                               for wanted, is_ in zip(key[2:], place, strict=True))}
                where = " on ".join(filter(None, key[2:]))
                best = max(some.items(), key=lambda item: item[1], default=(("none",), math.nan))
                yield Figure(name=f"{rival} / {system} on {where}: best, {', '.join(best[0])}",
                             value=best[1], unit="x", bar=bar)
        if factors:
            for kind, choose in (("best", max), ("worst", min)):
                place = choose(factors, key=factors.__getitem__)
                yield Figure(name=f"{rival} / {system}: {kind}, {', '.join(place)}",
                             value=factors[place], unit="x")
