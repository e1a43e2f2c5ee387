# SPDX-License-Identifier: BSD-2-Clause
"""The contents of a ``dgl.DGLGraph``, for ``Graph.from_dgl``."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hypercast.host.graphs.graph_error import GraphError
from hypercast.host.graphs.interchange.graph_errors import as_graph_errors
from hypercast.host.graphs.interchange.tensors import as_array, as_edge_weights, as_splits

__all__ = ["dgl_arguments"]


def dgl_arguments(graph: Any, features: str, labels: str, weight: str | None,
                  parts: Mapping[str, object] | None) -> dict[str, Any]:
    """Arguments of ``graph_arguments``; parameters as of ``Graph.from_dgl``."""
    with as_graph_errors(graph, "a dgl.DGLGraph"):
        if not graph.is_homogeneous:
            raise GraphError(f"the DGL graph has {len(graph.ntypes)} types of vertices and "
                             f"{len(graph.etypes)} of edges; make it one by dgl.to_homogeneous")
        ends = [as_array(end, "edges") for end in graph.edges(order="eid")]
        weights = None if weight is None else as_edge_weights(
            _require(graph.edata, weight, "edges"), weight)
        return {
            "edges": np.stack(ends, axis=1), "weights": weights,
            "features": _require(graph.ndata, features, "vertices"),
            "labels": _require(graph.ndata, labels, "vertices"),
            **as_splits(graph.ndata.get, parts)}


def _require(table: Mapping[str, Any], name: str, owners: str) -> Any:
    if name not in table:
        raise GraphError(f"the DGL graph's {owners} have no {name!r} but "
                         f"{', '.join(map(repr, table)) or 'nothing'}; name what to take")
    return as_array(table[name], name)
