# SPDX-License-Identifier: BSD-2-Clause
"""Problems with costs that tests choose."""

from hypercast.host.cluster.description import Cluster
from hypercast.host.planner.operators import Cost, Footprint, Operator, OperatorGraph
from hypercast.host.planner.problem import NetworkLayer, Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.reference.network import LINEAR, Network


def cluster(*megahertz, gigabits=1000, **settings):
    """Boards of some clocks, joined by a fast switch."""
    return Cluster.of_sections({
        "boards": {f"b{number}": {"board": "u50", "megahertz": one, "host_gigabits": gigabits,
                                  "host_microseconds": 0, **settings}
                   for number, one in enumerate(megahertz)},
        "links": {"switch": {"gigabits": gigabits}}})


def problem(seconds, boards, *, edges=None, micro_batches=4, output=0, footprint=None,
            weights=0):
    """Operators that take some seconds at 1 MHz, a third of them forward."""
    network = Network.of_widths([2] * (len(seconds) + 1), orders=LINEAR)
    statistics = Statistics(vertices=(16,) * (len(seconds) + 1), edges=(16,) * len(seconds),
                            sampled=True)
    chain = tuple((one, one + 1) for one in range(len(seconds) - 1))
    found = Problem(cluster=boards, statistics=statistics, micro_batches=micro_batches,
                    edges=chain if edges is None else tuple(edges), layers=tuple(
                        NetworkLayer(f"layer {number}", network, number)
                        for number in range(1, len(seconds) + 1)))
    found._graphs[statistics] = OperatorGraph(tuple(
        Operator(name=f"layer {number}", output=output, weights=weights, costs={
            board.speed: Cost(forward=one / 3 / board.clock * 1e6,
                              backward=2 * one / 3 / board.clock * 1e6,
                              kept=footprint or Footprint()) for board in boards.boards})
        for number, one in enumerate(seconds, 1)), found.edges)
    return found


def chains(graph, most):
    """All ways to divide operators into at most ``most`` stages, each after those that it reads."""
    def beginning(done):
        """Stages that can come next, when some operators are done."""
        found, todo = set(), [frozenset()]
        while todo:
            stage = todo.pop()
            for number in range(len(graph.operators)):
                larger = stage | {number}
                if number not in done | stage and larger not in found and (
                        done | stage).issuperset(graph.sources[number]):
                    found.add(larger)
                    todo.append(larger)
        return found

    def divided(done, left):
        if len(done) == len(graph.operators):
            yield []
        elif left:
            for stage in beginning(done):
                for rest in divided(done | stage, left - 1):
                    yield [tuple(sorted(stage)), *rest]

    return divided(frozenset(), most)


def slowest(training, stages):
    """Seconds of the slowest of some stages, on boards like the slowest of all."""
    return max(training.graph.seconds(stage, training.fastest[-1]) for stage in stages)
