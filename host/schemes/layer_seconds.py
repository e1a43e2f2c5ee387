# SPDX-License-Identifier: BSD-2-Clause
"""Seconds of a layer's passes on a board of a cluster, for virtual clocks."""

from functools import cache

from hypercast.host.cluster.board import Board
from hypercast.host.cluster.description import Cluster
from hypercast.host.planner.layer_costs import layer_cost
from hypercast.host.planner.statistics import Statistics, summed_edges
from hypercast.host.processes.virtual_time import LayerSeconds, Seconds
from hypercast.host.schemes.halo_exchange import HaloExchange
from hypercast.host.schemes.part_rows import PartRows
from hypercast.reference.network import Network
from hypercast.reference.sample import Sample
from hypercast.reference.step_graph import step_graph

__all__ = ["layer_seconds"]


def layer_seconds(network: Network, cluster: Cluster, *, adam: bool) -> Seconds:
    """Seconds of a sample's layers on a board of the cluster, by the cycle model.

    A board with a part of a graph sends the rows of others to its cores, too: a core injects a
    panel of a row each cycle.

    Parameters
    ----------
    network : Network
        The layers.
    cluster : Cluster
        The boards.
    adam : bool
        Whether the optimiser is Adam.
    """

    @cache
    def of_counts(vertices: tuple[int, ...], edges: tuple[int, ...], square: bool,
                  board: Board) -> list[LayerSeconds]:
        statistics = Statistics(vertices=vertices, edges=edges, sampled=not square)
        costs = [layer_cost(network, number, statistics, board, adam)
                 for number in range(1, len(edges) + 1)]
        return [LayerSeconds(cost.forward, cost.backward) for cost in costs]

    def seconds(sample: Sample, number: int) -> list[LayerSeconds]:
        board, rows_here = cluster.boards[number], sample.rows_here
        whole = sample.square or rows_here.shared
        rows = (len(sample.labels),) * len(sample.rows) if whole else sample.rows
        edges = summed_edges(network, [matrix.nnz for matrix in sample.edges])
        # Samples are much alike: counts are rounded to a fiftieth of themselves.
        found = of_counts(
            tuple(map(_round, rows)), tuple(map(_round, edges)), whole, board)
        if not (isinstance(rows_here, PartRows) and isinstance(rows_here.others, HaloExchange)):
            return found
        cores = board.config.cores * board.clock
        forward, backward = (rows_here.halo_rows(transposed=transposed) / cores
                             for transposed in (False, True))
        lanes = board.config.lanes
        sent = [[sum(-(-columns // lanes) for columns in way)
                 for way in step_graph(network).aggregated_columns(layer)]
                for layer in range(1, len(found) + 1)]
        return [LayerSeconds(one.forward + ahead * forward, one.backward + back * backward)
                for one, (ahead, back) in zip(found, sent, strict=True)]

    return seconds


def _round(count: int) -> int:
    """A number with about a fiftieth of itself left out."""
    step = 1 << max(count.bit_length() - 6, 0)
    return max(round(count / step) * step, 1)
