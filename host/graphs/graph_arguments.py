# SPDX-License-Identifier: BSD-2-Clause
"""Checked arguments of a ``Graph``; readers and makers of graphs need no more than this."""

from typing import TypedDict

import numpy.typing as npt

from hypercast.host.graphs.graph_checks import (
    checked_features,
    checked_labels,
    checked_splits,
)
from hypercast.host.graphs.graph_error import GraphError, about
from hypercast.host.graphs.parallel_edges import Parallel, merged_edges
from hypercast.reference.array_types import BoolArray, FloatMatrix, IntArray, SparseArray

__all__ = ["GraphArguments", "graph_arguments"]


class GraphArguments(TypedDict):
    """Arguments of ``Graph``, by name; the attributes there say what they hold."""

    edges: SparseArray
    features: FloatMatrix
    labels: IntArray | BoolArray
    splits: IntArray


def graph_arguments(edges: npt.ArrayLike, features: npt.ArrayLike | SparseArray,
                    labels: npt.ArrayLike | SparseArray, *, train: npt.ArrayLike,
                    validation: npt.ArrayLike = (), test: npt.ArrayLike = (),
                    weights: npt.ArrayLike | None = None, directed: bool = False,
                    parallel: Parallel = Parallel.LIST) -> GraphArguments:
    """Arguments of ``Graph`` from a list of edges.

    Parameters
    ----------
    edges, features, labels, train, validation, test, weights, directed
        As of ``Graph.from_edges``.
    parallel : Parallel
        What edges mean that are there several times.

    Raises
    ------
    GraphError
        If anything does not fit.
    """
    with about("labels"):
        labels = checked_labels(labels)
    vertices = len(labels)
    with about("features"):
        features = checked_features(features)
        if features.shape[0] != vertices:
            raise GraphError(f"there are {features.shape[0]} rows of features, but {vertices} "
                             f"labels; give one of each per vertex")
    splits = checked_splits(labels, train, validation, test)
    with about("edges"):
        merged = merged_edges(edges, weights, vertices, directed, parallel)
    return {"edges": merged, "features": features, "labels": labels, "splits": splits}
