"""What an adjacency matrix holds, for ``Graph.from_scipy`` and files that have one."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.graphs.graph_checks import GraphError
from hypercast.reference.array_types import IntArray, SparseArray

__all__ = ["matrix_edges"]


def matrix_edges(adjacency: SparseArray, vertices: int) -> tuple[IntArray, npt.NDArray[Any]]:
    """Edges and their weights; entry (i, j) is the weight of the edge from j to i.

    Parameters
    ----------
    adjacency : (V, V) array of scipy.sparse
        Zeros are no edges.
    vertices : int
        Number of vertices that there should be.

    Returns
    -------
    edges : (E, 2) array of int
        Source and target of each edge.
    weights : (E,) array
        One per edge.

    Raises
    ------
    GraphError
        If the matrix has another shape.
    """
    if adjacency.shape != (vertices, vertices):
        raise GraphError(f"the adjacency matrix has shape {adjacency.shape}, but there are "
                         f"{vertices} labels; it must be square with a row per vertex")
    entries = scipy.sparse.coo_array(adjacency)
    entries.eliminate_zeros()
    return np.stack([entries.col, entries.row], axis=1), entries.data
