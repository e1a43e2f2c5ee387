# SPDX-License-Identifier: BSD-2-Clause
"""Plans of a training: what the planner is asked of a graph, and what boards do by its answer."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.division import Division
from hypercast.host.cluster.vertex_work import vertex_work
from hypercast.host.cycle_model.default_orders import YARDSTICK, expected_workload
from hypercast.host.cycle_model.orders import choose_orders
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import Description
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.normalisation import LOOPED
from hypercast.host.graphs.rank_order import rank_order
from hypercast.host.graphs.sampling.vertex_cut import largest_part
from hypercast.host.planner.plan import Plan
from hypercast.host.planner.plan_file import load_plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.search import search
from hypercast.host.planner.statistics import Part, Statistics, summed_edges
from hypercast.host.planner.strategies import STRATEGIES
from hypercast.host.schemes.sample_source import SampleSource
from hypercast.host.training.ordering import (
    ordered_for_graph,
    ordered_for_numbers,
    ordered_for_samples,
)
from hypercast.host.training.prepare import loss_of
from hypercast.reference.array_types import SparseArray
from hypercast.reference.network import Network

__all__ = ["assignment_of", "choose_plan", "planned_description", "problem_of",
           "problem_of_network", "read_plan"]

#: Samples whose mean the planner goes by.
_TRIALS = 4
#: Vertices of a part, in the mean, that are too few for METIS.
_FEW = 16


def problem_of(description: Description, cluster: Cluster, graph: Graph,
               counts: Iterable[int] | None = None,
               progress: Callable[[str], None] = lambda text: None) -> Problem:
    """The planner's problem for a training.

    Parameters
    ----------
    description : Description
        The training.
    cluster : Cluster
        The boards.
    graph : Graph
        The graph.
    counts : iterable of int, optional
        Numbers of boards, or of chunks, that a whole graph is divided among, so that the parts are
        known; if not given, the numbers that strategies try.
    progress : callable
        Called with a line of text before each slow part.
    """
    recipe = replace(description.recipe, loss=loss_of(graph))
    network = description.model.network(graph)
    sigmoid = graph.multi_label
    if description.sampling.sampler:
        source = SampleSource(graph, network, recipe, description.sampling, progress=progress)
        most = min(recipe.micro_batches, len(source))  # of a step, as there are no more
        statistics = _sample_statistics(source, network)
        network = _order(description, network, statistics, cluster,
                         lambda: ordered_for_samples(network, source, recipe))
        return _problem(replace(description, recipe=replace(recipe, micro_batches=most)), cluster,
                        network, statistics, samples=len(source), sigmoid=sigmoid)
    matrix, cuts = graph.normalise(recipe.normalisation, recipe.gin_epsilon), []
    order = rank_order(graph)  # METIS divides what training gives it
    matrix = matrix[order][:, order]
    whole = Statistics.whole(graph.vertices, matrix.nnz, len(network.layers),
                             symmetric=(matrix != matrix.T).nnz == 0)
    # The work of a vertex depends on the orders.
    network = _order(description, network, whole, cluster,
                     lambda: ordered_for_graph(network, graph, recipe.element_width))
    boards = len(cluster.boards)
    if counts is None:
        counts = [count for strategy in STRATEGIES.values() for count in strategy.counts(boards)]
    counts = sorted(count for count in {*counts} if count <= graph.vertices)
    divisions = tuple(_divisions(matrix, counts, vertex_work(network), progress))
    for count in counts:
        if count > boards:
            break
        progress(f"cutting the graph for {count} boards")
        # Each copy of a vertex has a loop of its own, if vertices have such.
        looped = recipe.normalisation in (*LOOPED, "sum")
        vertices, edges = largest_part(graph, count, recipe.seed, looped=looped)
        cuts.append((count, vertices, edges + vertices * looped))
    return _problem(description, cluster, network, replace(
        whole, divisions=divisions, cuts=tuple(cuts)), sigmoid=sigmoid)


def _divisions(matrix: SparseArray, counts: Collection[int], work: int,
               progress: Callable[[str], None]) -> Iterator[tuple[Part, ...]]:
    """The parts of a graph for each of some numbers of boards."""
    halving: Division | None = None
    # Bisections are alike for all powers of two, but where parts are of a few vertices.
    alike = matrix.shape[0] >= _FEW * max(counts, default=1)
    for count in sorted(counts, reverse=True):
        if halving and alike and count & count - 1 == 0:
            while len(halving.edges) > count:
                halving = halving.join(matrix)
            found = halving
        else:
            progress(f"dividing the graph into {count} parts")
            found = Division.of(matrix, count, vertex_work=work)
            halving = found if count & count - 1 == 0 else halving
        vertices = np.bincount(found.boards, minlength=count)
        yield tuple(Part(*one) for one in zip(
            vertices.tolist(), found.edges.tolist(), found.halos.tolist(), strict=True))


def _sample_statistics(source: SampleSource, network: Network) -> Statistics:
    """The mean of the first samples."""
    samples = [source.first, *source.epoch(0, range(1, min(_TRIALS, len(source))))]
    return Statistics(
        vertices=tuple(np.mean([sample.rows for sample in samples], axis=0).round()
                       .astype(int).tolist()),
        edges=tuple(np.mean([summed_edges(network, [matrix.nnz for matrix in sample.edges])
                             for sample in samples], axis=0).round().astype(int).tolist()),
        sampled=True, symmetric=False)


def problem_of_network(description: Description, cluster: Cluster, network: Network,
                       statistics: Statistics) -> Problem:
    """The planner's problem for a network on vertices and edges that are only counted."""
    return _problem(description, cluster, _order(
        description, network, statistics, cluster, lambda: ordered_for_numbers(
            network, statistics.vertices, statistics.edges, description.recipe,
            law=statistics.law, sampled=statistics.sampled)), statistics)


def _order(description: Description, network: Network, statistics: Statistics, cluster: Cluster,
           default: Callable[[], Network]) -> Network:
    """The network with the orders that are given, or the ``default`` orders, or the fastest ones.

    The fastest ones take the fewest cycles on the cluster's first board.
    """
    if not description.model.fastest:
        return default() if description.model.chosen else network
    config = cluster.boards[0].config
    # Boards may have some layers each: whether one holds all is not asked here.
    config = config.replace(weight_rows=YARDSTICK.weight_rows, tensors=YARDSTICK.tensors,
                            channel_words=YARDSTICK.channel_words,
                            program_rows=YARDSTICK.program_rows)
    return choose_orders(expected_workload(
        network, statistics.vertices, statistics.edges, config, law=statistics.law,
        sampled=statistics.sampled)).network


def _problem(description: Description, cluster: Cluster, network: Network,
             statistics: Statistics, samples: int = 0, *, sigmoid: bool = False) -> Problem:
    recipe = description.recipe
    return Problem.of_network(
        cluster, network, statistics, micro_batches=recipe.micro_batches,
        adam=recipe.optimiser == "adam", samples=samples, sigmoid=sigmoid)


def choose_plan(description: Description, problem: Problem, *, staleness: bool = False,
                progress: Callable[[str], None] = lambda text: None) -> Plan:
    """The fastest plan that can be trained; without ``staleness``, with the bits of one board.

    Raises
    ------
    DescriptionError
        If boards have elements of another width than the training.
    InputError
        If there is none.
    """
    width = description.device.config.element_width
    for board in problem.boards:
        if board.config.element_width != width:
            raise DescriptionError(
                f"{board.name} has elements of {board.config.element_width} bits, the training of "
                f"{width}; give --elements {board.config.element_width}")
    return search(problem, progress).fastest_for(description.device.name, staleness)


def read_plan(path: Path, problem: Problem,
              smoothing: float = 0.0) -> tuple[Plan, Assignment]:
    """The ``Plan`` in a file, and what each board does by it; ``smoothing`` is of stale halos.

    Raises
    ------
    DescriptionError
        If it makes no sense, is for another training or other boards, or cannot be trained.
    """
    plan = load_plan(path, problem)
    try:
        return plan, assignment_of(plan, smoothing)
    except DescriptionError as error:
        raise error.at(str(path)) from error


def assignment_of(plan: Plan, smoothing: float = 0.0) -> Assignment:
    """The assignment of each board by a plan; ``smoothing`` is of stale halos.

    Raises
    ------
    DescriptionError
        If that cannot be trained.
    """
    if not plan.assignment:
        how = ", ".join(filter(None, (plan.scheme, plan.schedule, "layers split by columns"
                                      if plan.split else "")))
        raise DescriptionError(
            f"[plan] {plan.strategy} ({how}) cannot be trained: training has samples in parallel, "
            f"the graph in parallel (also with stale halos), a vertex cut in equal parts, and a "
            f"chain of stages with a board and whole layers each, by the schedules SNO, SO, GPipe "
            f"and paths, or with older weights, or GPipe for chunks of the graph; plan anew, or "
            f"edit the plan",
            "plan", "strategy")
    if plan.assignment.smoothing is None:
        return plan.assignment
    return replace(plan.assignment, smoothing=smoothing)


def planned_description(description: Description, problem: Problem, plan: Plan) -> Description:
    """The description of a training by a plan.

    It has the orders of products that were planned with, and what the strategy changes.
    """
    network = problem.layers[0].network
    return STRATEGIES[plan.strategy].describe(replace(description, model=replace(
        description.model, order=tuple(layer.order for layer in network.layers))), plan)
