# SPDX-License-Identifier: BSD-2-Clause
"""Makes edges a matrix that has each of them once, and merges edges between the same vertices.

Sources differ in what they mean by an edge that occurs twice. ``Parallel`` lists the meanings of
lists of edges. A matrix has one of its own: what is there twice is a part of the entry each, so
``matrix_edges`` has SciPy add them up.
"""

import warnings
from enum import Enum, auto
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.graphs.graph_error import GraphError, GraphWarning
from hypercast.host.graphs.interchange.tensors import as_array
from hypercast.reference.array_types import BoolArray, FloatArray, IntArray, SparseArray
from hypercast.rtl.plain_value import plain_value

__all__ = ["Parallel", "matrix_edges", "merged_edges", "stored_edges"]

#: (source, target) of each edge.
Ends: TypeAlias = tuple[IntArray, IntArray]

#: Weights of an edge's two directions are one weight, rounded twice, if they differ by at most so
#: many units in the last place, where 1 is (the spacing of numbers from 1 to 2); of numbers of 16
#: bits, which are seldom computed with, by less.
_UNITS, _UNITS_OF_16_BITS = 64, 2


class Parallel(Enum):
    """The meaning of several edges with the same source and target in a list.

    Without directions, source and target are in any order.
    """

    #: Each is an edge of its own. Sums over neighbours have a term for each, so weights add up.
    MULTIGRAPH = auto()
    #: They are one edge, written several times. Weights have to agree; a warning says so.
    LIST = auto()
    #: They are one edge: by its definition, the source is a set of edges.
    SET = auto()


def matrix_edges(adjacency: Any, vertices: int) -> tuple[IntArray, npt.NDArray[Any]]:
    """Edges and their weights; entry (i, j) is the weight of the edge from j to i.

    Parameters
    ----------
    adjacency : (V, V) array of scipy.sparse, numpy.ndarray or tensor
        What is stored in several parts is their sum, as SciPy has it. Zeros are no edges.
    vertices : int
        Number of vertices that there should be.

    Returns
    -------
    edges : (E, 2) array of int
        Source and target of each edge, which is there once.
    weights : (E,) array
        One per edge.

    Raises
    ------
    GraphError
        If it is no matrix, or one of another shape.
    """
    if isinstance(adjacency, (list, tuple)):  # it may be one of edges
        raise GraphError(f"the adjacency matrix is a {type(adjacency).__name__}; give an array, or "
                         f"scipy.sparse.csr_array(...) of it; Graph.from_edges takes a list of "
                         f"edges")
    given = as_array(adjacency, "the adjacency matrix")
    if given.shape != (vertices, vertices):
        raise GraphError(f"the adjacency matrix has shape {given.shape}, but there are "
                         f"{vertices} labels; it must be square with a row per vertex")
    if given.dtype.kind not in "biuf":
        raise GraphError(f"the adjacency matrix must be of real numbers, not of type "
                         f"{given.dtype}; give one weight for each entry")
    narrow = given.dtype == np.float16  # which SciPy lacks
    matrix = scipy.sparse.csr_array(given.astype(np.float32) if narrow else given, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return stored_edges(matrix), matrix.data.astype(given.dtype)


def stored_edges(matrix: SparseArray) -> IntArray:
    """Source and target of each entry that a matrix stores, whatever it is: (E, 2) array of int."""
    entries = matrix.tocoo()
    return np.stack([entries.col, entries.row], axis=1)


def merged_edges(edges: npt.ArrayLike, weights: npt.ArrayLike | None, vertices: int,
                 directed: bool, parallel: Parallel) -> SparseArray:
    """Edges and their weights as a (V, V) CSR array, a row per target, every edge once.

    Parameters
    ----------
    edges : (E, 2) array of int
        Source and target of each edge.
    weights : (E,) array or None
        One per edge; 1 each if it is None.
    vertices : int
        V.
    directed : bool
        Whether an edge leads only from source to target. Otherwise it leads back as well: if that
        is among the edges, too, its weight has to be the same, within a few roundings. The larger
        of the two is taken then.
    parallel : Parallel
        What edges mean that are there several times.

    Raises
    ------
    GraphError
        If anything does not fit.
    """
    directed = plain_value(directed)
    if not isinstance(directed, bool):
        raise GraphError(f"directed is {str(directed)[:40]!r}; give True or False")
    sources, targets = _checked_ends(edges, vertices)
    found = None if weights is None else _checked_weights(weights, (sources, targets))
    if parallel == Parallel.MULTIGRAPH:
        if not directed:
            sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
        keys, found = _add_weights(targets * vertices + sources, found)
        targets = keys // vertices
        sources = keys - targets * vertices
        bad = np.flatnonzero(~np.isfinite(found if found is not None else ()))
        if bad.size:
            raise GraphError(f"weights of the edges from vertex {sources[bad[0]]} to "
                             f"{targets[bad[0]]} add up to more than the largest float64; scale "
                             f"weights down")
    else:
        keys = targets * vertices + sources
        if parallel == Parallel.LIST:
            _warn_of_repeated(keys, vertices)
    back = None if directed else sources * vertices + targets
    if found is None:
        keys = _distinct(keys if back is None else np.concatenate([keys, back]))
        return _matrix(keys, np.ones(len(keys)), vertices)
    keys, sums = _agree(keys, back, found.astype(np.float64), _tolerance(found.dtype), vertices)
    return _matrix(keys, sums, vertices)


def _checked_ends(edges: npt.ArrayLike, vertices: int) -> Ends:
    pairs: Any = as_array(edges, "edges")
    if pairs.shape in ((0,), (0, 2)):  # of any type
        pairs = np.zeros((0, 2), dtype=np.int64)
    if scipy.sparse.issparse(pairs) or pairs.shape[1:] != (2,) or pairs.dtype.kind not in "iu":
        raise GraphError(f"edges must be pairs of vertex numbers, an array of integers of shape "
                         f"(edges, 2), not of shape {pairs.shape} and type {pairs.dtype}; give "
                         f"source and target of each (Graph.from_scipy takes a matrix)")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= vertices):
        outside = np.flatnonzero(((pairs < 0) | (pairs >= vertices)).any(axis=1))
        source, target = pairs[outside[0]]
        raise GraphError(f"edge {outside[0]} leads from vertex {source} to {target}, but vertices "
                         f"are 0 to {vertices - 1}; remove it or number the vertices from 0")
    pairs = pairs.astype(np.int64, copy=False)
    return pairs[:, 0], pairs[:, 1]


def _checked_weights(weights: npt.ArrayLike, ends: Ends) -> npt.NDArray[Any]:
    found = as_array(weights, "weights")
    if scipy.sparse.issparse(found) or found.dtype.kind not in "biuf":
        kind = "sparse" if scipy.sparse.issparse(found) else f"of type {found.dtype}"
        raise GraphError(f"weights must be real numbers, not {kind}; give one number per edge")
    if found.shape != ends[0].shape:
        raise GraphError(f"weights have shape {found.shape}, but there are {len(ends[0])} edges; "
                         f"give one number each")
    bad = np.flatnonzero(~np.isfinite(found.astype(np.float64)))
    if bad.size:
        source, target = (end[bad[0]] for end in ends)
        raise GraphError(f"weight of edge {bad[0]} is {found[bad[0]]}; replace it by a number (it "
                         f"leads from vertex {source} to {target})")
    narrow = found.dtype.kind == "f" and found.dtype.itemsize <= np.dtype(np.float64).itemsize
    checked: npt.NDArray[Any] = found if narrow else found.astype(np.float64)
    return checked


def _first(keys: IntArray) -> BoolArray:
    """Where sorted keys differ from the key before."""
    new = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return new


def _distinct(keys: IntArray) -> IntArray:
    """Each key once, sorted; not by np.unique, which takes a hash table, 14 times as long."""
    keys = np.sort(keys)
    return keys[_first(keys)]


def _warn_of_repeated(keys: IntArray, vertices: int) -> None:
    ordered = np.sort(keys)
    repeated = ordered[~_first(ordered)]
    if repeated.size:
        target, source = divmod(int(repeated[0]), vertices)
        warnings.warn(
            f"{repeated.size:,} of {len(keys):,} edges are there before, such as that from vertex "
            f"{source} to {target}; each is taken once (a matrix adds them up: Graph.from_scipy)",
            GraphWarning, stacklevel=2)


def _add_weights(keys: IntArray,
                 weights: npt.NDArray[Any] | None) -> tuple[IntArray, npt.NDArray[Any] | None]:
    """Each key once, and the sum of its weights: None if all are 1.

    Terms are added from the least to the largest, whatever the order of the edges.
    """
    if weights is None:
        keys = np.sort(keys)
        starts = np.flatnonzero(_first(keys))
        counts = np.diff(starts, append=len(keys))
        return keys[starts], None if len(starts) == len(keys) else counts.astype(np.float64)
    order = np.lexsort((weights, keys))
    keys = keys[order]
    new = _first(keys)
    if new.all():
        return keys, weights[order]
    return keys[new], np.bincount(np.cumsum(new) - 1, weights[order])


def _tolerance(dtype: np.dtype[Any]) -> float:
    """By what share of the larger two weights may differ that should be equal."""
    narrow = dtype.itemsize < np.dtype(np.float32).itemsize
    return (_UNITS_OF_16_BITS if narrow else _UNITS) * float(
        np.finfo(dtype if dtype.itemsize < np.dtype(np.float64).itemsize else np.float64).eps)


def _agree(keys: IntArray, back: IntArray | None, weights: FloatArray, tolerance: float,
           vertices: int) -> tuple[IntArray, FloatArray]:
    """Each edge once, and its weight, the largest that is given; in both directions with ``back``,
    the keys of the opposite ones."""
    pairs = keys if back is None else np.minimum(keys, back)
    order = np.argsort(pairs, kind="stable")
    starts = np.flatnonzero(_first(pairs[order]))
    if not starts.size:
        return keys, weights
    largest, least = (function.reduceat(weights[order], starts)
                      for function in (np.maximum, np.minimum))
    conflict = np.flatnonzero(
        largest - least > tolerance * np.maximum(abs(largest), abs(least)))
    if conflict.size:
        ends = np.append(starts, len(order))[conflict[0]:conflict[0] + 2]
        _refuse(keys, weights, order[slice(*ends)], vertices, tolerance)
    if back is None:
        return keys[order[starts]], largest
    one, other = np.sort([keys[order[starts]], back[order[starts]]], axis=0)
    two = one != other  # a loop leads back by itself
    both = np.concatenate([one, other[two]])
    order = np.argsort(both, kind="stable")
    return both[order], np.concatenate([largest, largest[two]])[order]


def _refuse(keys: IntArray, weights: FloatArray, same: IntArray, vertices: int,
            tolerance: float) -> None:
    """Refuse edges that are the same, but have weights that are not."""
    high, low = same[weights[same].argmax()], same[weights[same].argmin()]
    target, source = divmod(int(keys[high]), vertices)
    text = f"the edge from vertex {source} to {target} has weights {weights[high]} and " \
           f"{weights[low]}; give it one"
    limit = tolerance * abs(weights[same]).max()
    twice = any(np.ptp(weights[same][keys[same] == key]) > limit for key in keys[[high, low]])
    if twice or keys[high] == keys[low]:
        raise GraphError(f"{text}, or a matrix, whose entries add up (Graph.from_scipy)")
    raise GraphError(f"{text}, or, if they are those of its two directions, declare the graph "
                     f"directed")


def _matrix(keys: IntArray, weights: FloatArray, vertices: int) -> SparseArray:
    """The (V, V) CSR array of edges by sorted keys."""
    targets, index = keys // vertices, scipy.sparse.get_index_dtype(
        maxval=max(len(keys), vertices))
    sources = keys - targets * vertices
    starts = np.concatenate(([0], np.cumsum(np.bincount(targets, minlength=vertices))))
    return scipy.sparse.csr_array(
        (weights, sources.astype(index), starts.astype(index)), shape=(vertices, vertices))
