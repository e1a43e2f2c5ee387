"""What a ``dgl.DGLGraph`` holds, for ``Graph.from_dgl``."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hypercast.host.graphs.graph_checks import GraphError
from hypercast.host.graphs.interchange.tensors import as_array, as_splits

__all__ = ["dgl_arguments"]


def dgl_arguments(graph: Any, features: str, labels: str, weight: str | None,
                  parts: Mapping[str, object] | None) -> dict[str, Any]:
    """Arguments of ``Graph.from_edges``; parameters are those of ``Graph.from_dgl``."""
    if not graph.is_homogeneous:
        raise GraphError(f"the DGL graph has {len(graph.ntypes)} types of vertices and "
                         f"{len(graph.etypes)} of edges; make it one by dgl.to_homogeneous")
    sources, targets = graph.edges(order="eid")
    weights = None if weight is None else as_array(
        _required(graph.edata, weight, "edges")).reshape(-1)
    return {
        "edges": np.stack([as_array(sources), as_array(targets)], axis=1), "weights": weights,
        "features": as_array(_required(graph.ndata, features, "vertices")),
        "labels": as_array(_required(graph.ndata, labels, "vertices")),
        **as_splits(graph.ndata.get, parts)}


def _required(table: Mapping[str, Any], name: str, owners: str) -> Any:
    if name not in table:
        raise GraphError(f"the DGL graph's {owners} have no {name!r} but "
                         f"{', '.join(map(repr, table)) or 'nothing'}; name what to take")
    return table[name]
