# SPDX-License-Identifier: BSD-2-Clause
"""The neighbours of many vertices at once."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.errors import InputError
from hypercast.host.graphs.sampling.sampling_kernels import relabel
from hypercast.reference.array_types import FloatArray, IntArray, SparseArray

__all__ = ["Neighbourhoods", "relabel_vertices"]


class Neighbourhoods:
    """A square matrix taken apart into its loops and the other entries of its rows.

    Parameters
    ----------
    matrix : (V, V) scipy.sparse array
        Weights; row i holds the weights of edges towards vertex i.

    Attributes
    ----------
    starts : (V + 1,) numpy.ndarray of int64
        Where the entries of each vertex start.
    columns, weights : (E,) numpy.ndarray of int32 and float64
        The entries, without loops.
    loops : (V,) numpy.ndarray of float64
        Weight of each vertex's loop; zero if it has none.
    """

    def __init__(self, matrix: SparseArray) -> None:
        matrix = scipy.sparse.csr_array(matrix, dtype=np.float64)
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"the matrix has shape {matrix.shape}; it must be square")
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        others = matrix.indices != rows
        counts = np.bincount(rows[others], minlength=matrix.shape[0])
        self.starts: IntArray = np.concatenate(([0], np.cumsum(counts)))
        self.columns: npt.NDArray[np.int32] = matrix.indices[others].astype(np.int32, copy=False)
        self.weights: FloatArray = matrix.data[others]
        self.loops: FloatArray = matrix.diagonal()

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return len(self.loops)

    @property
    def degrees(self) -> IntArray:
        """(V,) entries of each vertex, without its loop."""
        return np.diff(self.starts)


def relabel_vertices(destinations: IntArray, neighbours: npt.NDArray[np.integer[Any]],
                     vertices: int) -> tuple[IntArray, npt.NDArray[np.int32]]:
    """Numbers of vertices within a sample.

    Parameters
    ----------
    destinations : (D,) array of int
        Vertices, each once, that are numbers 0 to D - 1.
    neighbours : (E,) array of int
        Vertices to be numbered, any number of times.
    vertices : int
        Vertices of the graph.

    Returns
    -------
    sources : (S,) numpy.ndarray of int64
        The destinations, and in increasing order the neighbours that are none.
    numbers : (E,) numpy.ndarray of int32
        ``sources[numbers]`` are the neighbours.
    """
    numbers = neighbours.astype(np.int32)
    sources = np.empty(len(destinations) + len(neighbours), dtype=np.int64)
    count = relabel(destinations, vertices, numbers, sources)
    return sources[:count].copy(), numbers
