"""The neighbours of many vertices at once."""

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.reference.array_types import FloatArray, IntArray, SparseArray

__all__ = ["Neighbourhoods", "entries_of", "numbers_of", "relabelled"]


class Neighbourhoods:
    """A square matrix taken apart into its loops and the other entries of its rows.

    Parameters
    ----------
    matrix : (V, V) scipy.sparse array
        Weights; row i holds those towards vertex i.

    Attributes
    ----------
    starts : (V + 1,) numpy.ndarray of int64
        Where the entries of each vertex start.
    columns, weights : (E,) numpy.ndarray of int64 and float64
        The entries, without loops.
    loops : (V,) numpy.ndarray of float64
        Weight of each vertex's loop; zero if it has none.
    """

    def __init__(self, matrix: SparseArray) -> None:
        matrix = scipy.sparse.csr_array(matrix, dtype=np.float64)
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"the matrix has shape {matrix.shape}; it must be square")
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        others = matrix.indices != rows
        counts = np.bincount(rows[others], minlength=matrix.shape[0])
        self.starts: IntArray = np.concatenate(([0], np.cumsum(counts)))
        self.columns: IntArray = matrix.indices[others].astype(np.int64)
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


def entries_of(starts: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """The entries of some rows of a CSR matrix.

    Parameters
    ----------
    starts : (V + 1,) array of int
        Where the entries of each row start.
    rows : (R,) array of int
        Row numbers.

    Returns
    -------
    positions : (E,) numpy.ndarray of int64
        Positions of the entries of all these rows, row by row.
    row : (E,) numpy.ndarray of int64
        Index into ``rows`` of each.
    """
    counts = starts[rows + 1] - starts[rows]
    row = np.repeat(np.arange(len(rows)), counts)
    before = np.cumsum(counts) - counts
    return np.arange(len(row)) + (starts[rows] - before)[row], row


def numbers_of(members: IntArray, vertices: IntArray, count: int) -> npt.NDArray[np.int32]:
    """Where each of many vertices is among a few.

    Parameters
    ----------
    members : (M,) array of int
        The few, each once.
    vertices : (E,) array of int
        Any vertices.
    count : int
        Vertices of the graph.

    Returns
    -------
    numpy.ndarray
        (E,) int32: ``members[number]`` is the vertex, or the number is -1.
    """
    number = np.empty(count, dtype=np.int32)  # only what is asked for is ever touched
    number[vertices] = -1
    number[members] = np.arange(len(members))
    return number[vertices]


def relabelled(destinations: IntArray, neighbours: IntArray,
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
    number = np.empty(vertices, dtype=np.int32)  # only the sample's are touched
    entries = np.arange(len(neighbours))
    number[neighbours] = entries
    number[destinations] = -1
    new = np.sort(neighbours[number[neighbours] == entries])
    number[new] = len(destinations) + np.arange(len(new))
    number[destinations] = np.arange(len(destinations))
    return np.concatenate([destinations, new]), number[neighbours]
