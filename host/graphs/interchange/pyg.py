"""What a ``torch_geometric.data.Data`` holds, for ``Graph.from_pyg``."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hypercast.host.graphs.graph_checks import GraphError
from hypercast.host.graphs.interchange.tensors import as_array, as_splits

__all__ = ["pyg_arguments"]


def pyg_arguments(data: Any, weight: str | None,
                  parts: Mapping[str, object] | None) -> dict[str, Any]:
    """Arguments of ``Graph.from_edges``; parameters are those of ``Graph.from_pyg``."""
    edges, weights = _edges(data)
    if weight is not None:
        weights = as_array(_required(data, weight)).reshape(-1)
    return {
        "edges": edges, "weights": weights, "features": as_array(_required(data, "x")),
        "labels": as_array(_required(data, "y")),
        **as_splits(lambda name: getattr(data, name, None), parts)}


def _required(data: Any, name: str) -> Any:
    value = getattr(data, name, None)
    if value is None:
        raise GraphError(f"the {type(data).__name__} has no {name}; a homogeneous one with x, y "
                         f"and edge_index or adj_t is needed")
    return value


def _edges(data: Any) -> tuple[Any, Any]:
    """(E, 2) pairs of source and target, and weights if the edges carry any."""
    if getattr(data, "edge_index", None) is not None:
        return as_array(data.edge_index).T, None
    adjacency = as_array(_required(data, "adj_t")).tocoo()
    targets, sources = adjacency.coords
    return np.stack([sources, targets], axis=1), adjacency.data
