# SPDX-License-Identifier: BSD-2-Clause
"""Evaluates pipelines: stages of layers on boards, worked off by a schedule."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypercast.host.cluster.assignment import LAYERS, SAMPLES, Assignment
from hypercast.host.cluster.board import NO_OVERLAP, ROWS, Board
from hypercast.host.cluster.reduction import reduction_seconds
from hypercast.host.compiler.piece_program import PIECES
from hypercast.host.planner.chip_limits import SUMMED, programs_of_one, shortage
from hypercast.host.planner.operators import Footprint, OperatorGraph
from hypercast.host.planner.plan import EXACT, Plan, PlannedShare
from hypercast.host.planner.problem import Problem
from hypercast.host.schedules.execution import PipelineTimeline, run
from hypercast.host.schedules.pipeline import Edge, Pipeline, Stage
from hypercast.host.schedules.schedule import SCHEDULES

__all__ = ["SUM_BYTES", "BoardStage", "Discipline", "agreed_seconds", "evaluate",
           "evenly", "pipeline_of", "reduced_seconds", "schedules_for", "stage_footprint"]

#: How plans call the scheme of boards that have all layers each, and take samples in turn.
_IN_TURN = f"{SAMPLES} in parallel"
#: Bytes of a sum of gradients, in full width.
SUM_BYTES = 8
#: Of each entry of the exponent file: exponent, negated exponent and peak.
_ENTRY = 3


@dataclass(frozen=True, kw_only=True)
class Discipline:
    """Rules that a strategy's pipelines have in common.

    Parameters
    ----------
    strategy, scheme, staleness
        As in ``Plan``.
    versions : int
        Versions of the weights that each board keeps; 0 for one for each micro-batch in flight.
    flush : bool
        Whether each step begins when the one before is done. If not, a step's time is what one
        more takes.
    chain : bool
        Whether each stage follows the one before, whether it reads from it or not.
    chunked : bool
        Whether what goes through the stages are chunks of a whole graph, not micro-batches.
    """

    strategy: str
    scheme: str = "layers in a pipeline"
    staleness: str = EXACT
    versions: int = 1
    flush: bool = True
    chain: bool = True
    chunked: bool = False

    def on(self, stages: Sequence["BoardStage"]) -> "Discipline":
        """The discipline of some stages: a single stage that stashes weights has no older ones.

        All its boards have all layers then, and take the samples of a step in turn.
        """
        if len(stages) > 1 or self.chunked or self.versions > 1:
            return self
        scheme = _IN_TURN if len(stages[0].boards) > 1 else self.scheme
        return replace(self, scheme=scheme, staleness=EXACT, versions=1, flush=True)


@dataclass(frozen=True)
class BoardStage:
    """Layers of a pipeline, and the boards that have them.

    Parameters
    ----------
    layers : tuple of int
        Numbers of the layers, from 0, in ascending order.
    boards : tuple of Board
        Boards that take micro-batches in turn.
    """

    layers: tuple[int, ...]
    boards: tuple[Board, ...]


def schedules_for(stages: Sequence[BoardStage]) -> tuple[str, ...]:
    """Schedules that the boards of some stages can follow."""
    streams = all(board.transfers == ROWS for stage in stages for board in stage.boards)
    return ("1F1B", "FBP", "SNO", "SO") if streams else ("SNO", "SO")


def pipeline_of(problem: Problem, stages: Sequence[BoardStage], *,
                chain: bool = False, chunks: int = 1) -> Pipeline:
    """The ``Pipeline`` of some stages, whose transfers take the cluster's links.

    In a ``chain``, each stage follows the one before, whether it reads from it or not. What goes
    through it is one of so many ``chunks`` of a micro-batch, the mean of all of them.
    """
    graph, parts = problem.graph, [problem.graph]
    if chunks > 1:
        graph = problem.operators(problem.statistics.part(chunks))
        parts = [problem.operators(part) for part in problem.statistics.parts(chunks)]
    made = []
    for number, stage in enumerate(stages):
        # Of several boards, the slowest sets the pace.
        costs = [[part.operators[layer].on(board) for part in parts for layer in stage.layers]
                 for board in stage.boards]
        made.append(Stage(
            name=f"stage {number + 1}", boards=tuple(board.name for board in stage.boards),
            forward=max(sum(one.forward for one in cost) for cost in costs) / len(parts),
            backward=max(sum(one.backward for one in cost) for cost in costs) / len(parts)))
    edges = []
    for source, first in enumerate(stages):
        for target, second in enumerate(stages):
            sizes = _crossing_bytes(graph, stages, source, target)
            if any(sizes) or (chain and target == source + 1):
                edges.append(_edge(problem, source, target, first, second, sizes))
    return Pipeline(tuple(made), tuple(edges))


def _crossing_bytes(graph: OperatorGraph, stages: Sequence[BoardStage], source: int,
                    target: int) -> tuple[int, int]:
    """Bytes from one stage to another that reads its results, and back."""
    if source == target:
        return 0, 0
    first, second = stages[source].layers, stages[target].layers
    forward = graph.crossing(first, second, forward=True)
    # Where neither reads the other, the first of them adds up gradients.
    back = graph.crossing(first, second, forward=False) if forward or source < target else 0
    return forward, back


def _edge(problem: Problem, source: int, target: int, first: BoardStage, second: BoardStage,
          sizes: Sequence[int]) -> Edge:
    """The traffic between two stages: so many bytes forward, and backward."""
    routes = [problem.cluster.route(one, other) for one in first.boards for other in second.boards]
    back = [problem.cluster.route(other, one) for one in first.boards for other in second.boards]
    slow = min(routes, key=lambda route: route.bandwidth)
    # Boards of a stage send at the same time, each its own micro-batches.
    width = min(len(first.boards), len(second.boards))
    forward, backward = (size / slow.bandwidth / width if size or not any(sizes) else None
                         for size in sizes)
    return Edge(source=source, target=target, forward=forward, backward=backward,
                latency=max(route.latency for route in routes),
                forward_ports=routes[0].ports, backward_ports=back[0].ports)


def stage_footprint(problem: Problem, stage: BoardStage, board: Board, in_flight: int,
                    versions: int = 1) -> Footprint:
    """Room that a stage takes on a board.

    Parameters
    ----------
    problem : Problem
        The training to plan, and its boards.
    stage : BoardStage
        The stage.
    board : Board
        One of its boards.
    in_flight : int
        Micro-batches in flight.
    versions : int
        Versions of the weights that are kept.
    """
    graph = problem.graph
    resident = kept = working = Footprint()
    for number in stage.layers:
        cost = graph.operators[number].on(board)
        resident += cost.resident
        kept += cost.kept
        working += cost.working
    # Older versions of the weights wait in memory.
    resident += Footprint(gradients=resident.weight_rows * (versions - 1))
    more_kept, more_working = problem.border_of(stage.layers, board)
    kept, working = kept + more_kept, working + more_working
    lists = problem.lists(stage.layers, board)
    if problem.statistics.sampled:
        kept += lists
    else:
        resident += lists
    return resident + kept.times(in_flight) + working


def evenly(seconds: Sequence[float]) -> list[float]:
    """Shares of boards that take some seconds for the same work, all done at once."""
    speed = sum(1 / one for one in seconds)
    return [1 / one / speed for one in seconds]


def reduced_seconds(problem: Problem, boards: Sequence[Board], elements: int) -> float:
    """Time in which some boards add up the gradients of some weights, in full width."""
    if len(boards) < 2:
        return 0.0
    routes = (problem.cluster.route(one, other)
              for one, other in itertools.permutations(boards, 2))
    return reduction_seconds(routes, len(boards), elements * SUM_BYTES)


def agreed_seconds(problem: Problem, boards: Sequence[Board]) -> float:
    """Time in which some boards find the largest values of all tensors."""
    return reduced_seconds(problem, boards, _ENTRY * problem.entries)


def evaluate(problem: Problem, discipline: Discipline, stages: Sequence[BoardStage],
             schedule: str, *, in_flight: Sequence[int] | None = None,
             chunks: int = 1) -> Plan | str:
    """A pipeline's ``Plan``, or why it is none.

    Parameters
    ----------
    problem : Problem
        The training to plan, and its boards.
    discipline : Discipline
        What the strategy asks for.
    stages : sequence of BoardStage
        The stages.
    schedule : str
        One of ``SCHEDULES``.
    in_flight : sequence of int, optional
        Instead of what the schedule says.
    chunks : int
        Number of chunks, if the discipline has such.
    """
    discipline = discipline.on(stages)
    for stage in stages:
        for board in stage.boards:
            if lacking := shortage(
                    problem, stage.layers, board, _list_layers(problem, stage.layers),
                    PIECES if len(stages) > 1 else SUMMED if len(stage.boards) > 1
                    else programs_of_one(problem),
                    problem.statistics.largest(chunks) if discipline.chunked else None):
                return lacking
    pipeline = pipeline_of(problem, stages, chain=discipline.chain,
                           chunks=chunks if discipline.chunked else 1)
    units = chunks if discipline.chunked else problem.micro_batches
    waiting = [board.name for stage in stages for board in stage.boards
               if board.transfers == NO_OVERLAP]

    def worked(count: int) -> PipelineTimeline:
        return run(pipeline, SCHEDULES[schedule], count, in_flight=in_flight, waiting=waiting)

    agreed = agreed_seconds(problem, [board for stage in stages for board in stage.boards])
    if discipline.flush:
        timeline = worked(units)
        seconds = timeline.seconds if discipline.chunked else problem.mean_step(
            lambda size: (timeline if size == units else worked(size)).seconds)
    else:
        # The first steps fill the pipeline.
        first = units * -(-sum(len(stage.boards) for stage in stages) // units)
        some = first + 2 * units
        timeline = worked(some)
        seconds = (timeline.seconds - worked(first).seconds) / 2
        if samples := problem.samples:  # boards wait for each other at the end of an epoch
            more = max(0, samples - some) // units  # steps that are like the steps before
            epoch = worked(samples - more * units).seconds + more * seconds
            seconds = (epoch + agreed) / sum(count for _, count in problem.steps)
    memory = {}
    for stage, peak in zip(stages, timeline.peaks, strict=True):
        # All chunks together are the whole graph.
        flight = 1 if discipline.chunked else peak
        for board in stage.boards:
            need = stage_footprint(problem, stage, board, flight, discipline.versions or peak)
            if excess := need.excess(board, _list_layers(problem, stage.layers)):
                return excess
            memory[board.name] = need.bytes_on(board)
    graph = problem.graph
    weights = [sum(graph.operators[layer].weights for layer in stage.layers) for stage in stages]
    crossing = problem.micro_batches * sum(
        sum(_crossing_bytes(graph, stages, *pair))
        for pair in itertools.product(range(len(stages)), repeat=2)) + 2 * SUM_BYTES * sum(
        (len(stage.boards) - 1) * count for stage, count in zip(stages, weights, strict=True))
    seconds += max(reduced_seconds(problem, stage.boards, count)
                   for stage, count in zip(stages, weights, strict=True))
    if discipline.flush:  # else each board knows what it needs from the step before
        seconds += agreed
    return Plan(
        strategy=discipline.strategy, scheme=discipline.scheme, schedule=schedule, units=units,
        seconds=seconds, memory=memory, traffic=crossing, staleness=discipline.staleness,
        assignment=_assignment(problem, discipline, stages, schedule, units, timeline.peaks),
        only_references=_only_references(problem, discipline, stages),
        intervals=timeline.intervals,
        shares=tuple(PlannedShare(boards=tuple(board.name for board in stage.boards),
                                  layers=tuple(layer + 1 for layer in stage.layers), in_flight=peak)
                     for stage, peak in zip(stages, timeline.peaks, strict=True)))


def _assignment(problem: Problem, discipline: Discipline, stages: Sequence[BoardStage],
                schedule: str, units: int, peaks: Sequence[int]) -> Assignment | None:
    """The assignment of each board in training; None if that cannot be done yet."""
    kind = SCHEDULES[schedule]
    boards = tuple(board.name for stage in stages for board in stage.boards)
    synchronous = discipline.flush and discipline.versions == 1
    # Without a flush, training has two versions, and one for each micro-batch in flight.
    able = (synchronous or not discipline.flush) and kind.forward_first >= discipline.chunked
    layers = [layer for stage in stages for layer in stage.layers]
    # Older weights need a chain of layers. Jumping knowledge adds edges to the last layer.
    joined = problem.graph.is_chain or (synchronous and problem.is_one_network)
    runs = layers == sorted(layers) and all(len(stage.boards) == 1 for stage in stages)
    if len(stages) == 1 and synchronous and not (discipline.chunked or kind.two_engines):
        if len(boards) > 1:  # each has all layers
            return Assignment(scheme=SAMPLES, boards=boards, micro_batches=tuple(
                len(range(first, units, len(boards))) for first in range(len(boards))))
    elif not (able and joined and runs) or kind.hidden or kind.two_engines:
        return None
    return Assignment(
        scheme=LAYERS, boards=boards, in_flight=tuple(peak or 1 for peak in peaks),
        runs=tuple(range(min(stage.layers) + 1, max(stage.layers) + 2) for stage in stages),
        versions=max(1, discipline.versions), stages=0 if discipline.versions else len(stages),
        chunks=units if discipline.chunked else 0)


def _only_references(problem: Problem, discipline: Discipline,
                     stages: Sequence[BoardStage]) -> bool:
    """Whether chips cannot train what references can."""
    if len(stages) == 1 and discipline.versions != 1:
        return True  # one process computes what stages would
    # The first step and evaluations are of the whole graph; and programs end before each sum.
    return discipline.chunked and any(
        shortage(problem, stage.layers, board, "", PIECES, halo=1)
        for stage in stages for board in stage.boards)


def _list_layers(problem: Problem, layers: Sequence[int]) -> str:
    names = [problem.layers[layer].name for layer in layers]
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
