# SPDX-License-Identifier: BSD-2-Clause
"""The contents of a ``torch_geometric.data.Data``, for ``Graph.from_pyg``."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse

from hypercast.host.graphs.graph_error import GraphError, GraphWarning
from hypercast.host.graphs.interchange.graph_errors import as_graph_errors
from hypercast.host.graphs.interchange.tensors import as_array, as_edge_weights, as_splits
from hypercast.host.graphs.parallel_edges import matrix_edges

__all__ = ["pyg_arguments", "require"]


def pyg_arguments(data: Any, weight: str | None,
                  parts: Mapping[str, object] | None) -> dict[str, Any]:
    """Arguments of ``graph_arguments``; parameters as of ``Graph.from_pyg``."""
    with as_graph_errors(data, "a torch_geometric.data.Data"):
        labels = as_array(require(data, "y"), "y")
        edges, weights = _edges(data, weight, labels.shape[0] if labels.ndim else 0)
        return {
            "edges": edges, "weights": weights, "features": as_array(require(data, "x"), "x"),
            "labels": labels, **as_splits(lambda name: getattr(data, name, None), parts)}


def require(data: Any, name: str) -> Any:
    """An attribute of a ``Data``, or a ``GraphError`` if it has none."""
    if not isinstance(name, str):
        raise GraphError(f"weight is {str(name)[:40]}; give the name of an attribute")
    value = getattr(data, name, None)
    if value is None:
        raise GraphError(f"the {type(data).__name__} has no {name}; a homogeneous one with x, y "
                         f"and edge_index or adj_t is needed (to_homogeneous() makes one)")
    return value


def _edges(data: Any, weight: str | None, vertices: int) -> tuple[Any, Any]:
    """(E, 2) pairs of source and target, and weights if the edges carry any."""
    if getattr(data, "edge_index", None) is None:
        if weight is not None:
            raise GraphError(f"the edges are those of adj_t, which says their weights, and not "
                             f"{weight}; leave weight out")
        return matrix_edges(require(data, "adj_t"), vertices)
    ends = as_array(data.edge_index, "edge_index")
    if scipy.sparse.issparse(ends) or ends.ndim != 2 or ends.shape[0] != 2:
        kind = "a sparse matrix" if scipy.sparse.issparse(ends) else "an array"
        raise GraphError(f"edge_index is {kind} of shape {ends.shape}; give sources and targets, "
                         f"of shape (2, edges), or a matrix as adj_t")
    loops = np.sort(ends[0][ends[0] == ends[1]])
    twice = loops[1:][loops[1:] == loops[:-1]]
    if twice.size:
        warnings.warn(f"vertex {twice[0]} has several loops, whose weights add up; GCNConv of "
                      f"PyTorch Geometric takes one of them", GraphWarning, stacklevel=2)
    return ends.T, None if weight is None else as_edge_weights(require(data, weight), weight)
