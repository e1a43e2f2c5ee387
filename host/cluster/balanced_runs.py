# SPDX-License-Identifier: BSD-2-Clause
"""Cuts a row of costs, of layers for instance, into runs that cost about as much."""

from collections.abc import Sequence

from hypercast.reference.network import Network
from hypercast.reference.sample import Sample

__all__ = ["balanced_runs", "runs_of_layers"]


def balanced_runs(costs: Sequence[float], count: int) -> list[range]:
    """Cut a row of costs into runs, none empty, so that the largest sum is as small as it can be.

    Parameters
    ----------
    costs : sequence of float
        None is negative.
    count : int
        Runs: at most as many as there are costs.
    """
    sums = [0.0]
    for cost in costs:
        sums.append(sums[-1] + cost)
    #: Of so many runs of the first costs: the least largest sum, and where the last run begins.
    best = [[(sums[end], 0) for end in range(len(sums))]]
    for runs in range(2, count + 1):
        best.append([(float("inf"), 0)] * runs + [
            min((max(best[-1][cut][0], sums[end] - sums[cut]), cut)
                for cut in range(runs - 1, end)) for end in range(runs, len(sums))])
    found, end = [], len(costs)
    for row in reversed(best):
        start = row[end][1]
        found.append(range(start, end))
        end = start
    return found[::-1]


def runs_of_layers(network: Network, sample: Sample, boards: int,
                   planned: Sequence[range] = ()) -> list[range]:
    """The layers of each board, from 1, in order.

    They are planned for so many boards, or else they are runs that multiply and add about as much.
    There are as many layers as boards, or more.
    """
    if len(planned) == boards:
        return [*planned]
    assert boards <= len(network.layers)
    costs = [rows * layer.features_in * layer.features_out + edges.nnz * layer.features_out
             for rows, layer, edges in zip(
                 sample.rows[1:], network.layers, sample.edges, strict=True)]
    return [range(run.start + 1, run.stop + 1) for run in balanced_runs(costs, boards)]
