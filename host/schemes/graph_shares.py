# SPDX-License-Identifier: BSD-2-Clause
"""What boards that train on a whole graph together are given of it."""

import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from hypercast.host.cluster.assignment import LAYERS, Assignment
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.division import Division
from hypercast.host.schemes.board_memory import check_boards
from hypercast.host.schemes.graph_parts import divide, in_chunks, parts_of
from hypercast.host.schemes.layer_seconds import layer_seconds
from hypercast.reference.initial_model import InitialModel

__all__ = ["GraphShares", "graph_shares"]


class GraphShares(NamedTuple):
    """How boards share a whole graph.

    Attributes
    ----------
    division : Division or None
        Which board has which vertex, if boards have parts of it.
    alone : float
        Seconds that the first board of a cluster would take for a step alone; 0 without a cluster.
    """

    division: Division | None
    alone: float


def graph_shares(model: InitialModel, assignment: Assignment, cluster: Cluster | None,
                 boards: int) -> Iterator[Any]:
    """First the ``GraphShares``, then what ranks are given, one after another.

    With layers, that is one model, which all of them have. Else it is a model for each of them,
    pickled, whose sample is its part of the graph.

    Parameters
    ----------
    model : InitialModel
        The whole model.
    assignment : Assignment
        How boards share it; its scheme is given.
    cluster : Cluster, optional
        The boards.
    boards : int
        How many of them train.

    Raises
    ------
    ClusterError, DescriptionError
        If boards cannot share it, or do not hold their shares.
    """
    division = None
    if assignment.scheme != LAYERS:
        division = divide(model, boards, assignment.parts)
    check_boards(model, assignment, cluster, boards, division)
    alone = 0.0
    if cluster and division:
        seconds = layer_seconds(model.network, cluster, adam=model.recipe.optimiser == "adam")
        alone = sum(map(sum, seconds(model.sample, 0)))
    yield GraphShares(division, alone)
    if division is None:
        yield in_chunks(model, assignment.chunks) if assignment.chunks else model
        return
    for part in parts_of(model.sample, division, assignment.kept_smoothing):
        yield pickle.dumps(replace(model, sample=part), protocol=pickle.HIGHEST_PROTOCOL)
