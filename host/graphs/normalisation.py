# SPDX-License-Identifier: BSD-2-Clause
"""Edge weights and features, normalised as recipes ask for."""

import math

import numpy as np
import scipy.sparse

from hypercast.host.graphs.graph_error import GraphError
from hypercast.reference.array_types import BoolArray, FloatArray, FloatMatrix, SparseArray
from hypercast.reference.recipe import NORMALISATIONS
from hypercast.rtl.plain_value import plain_float

__all__ = ["LOOPED", "add_loops", "normalise_edges", "normalise_features"]

#: Normalisations in which every vertex has a loop: missing loops are added.
LOOPED = ("symmetric", "mean")


def normalise_edges(edges: SparseArray, kind: str, epsilon: float = 0.0) -> SparseArray:
    """Edge weights for aggregation, as ``Graph.normalise`` says."""
    if not isinstance(kind, str) or kind not in NORMALISATIONS:
        raise GraphError(f"normalisation must be one of {', '.join(NORMALISATIONS)}, not "
                         f"{str(kind)[:40]!r}; give one of them")
    try:
        epsilon = plain_float(epsilon)
    except TypeError:
        epsilon = math.nan
    if not math.isfinite(epsilon):
        raise GraphError("epsilon is no finite number; give one, such as 0")
    if kind in LOOPED:
        return _looped_means(add_loops(edges), kind)
    if kind == "given":
        return edges
    if kind == "neighbours":
        return _neighbour_means(edges)
    own = scipy.sparse.diags_array(np.full(edges.shape[0], 1.0 + epsilon))
    return scipy.sparse.csr_array(edges + own)


def add_loops(edges: SparseArray) -> SparseArray:
    """Edges with a loop of weight 1 at each vertex that has none."""
    rows = np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
    missing = np.ones(edges.shape[0])
    missing[rows[rows == edges.indices]] = 0
    return scipy.sparse.csr_array(edges + scipy.sparse.diags_array(missing))


def _looped_means(looped: SparseArray, kind: str) -> SparseArray:
    """Weights of the normalisations ``LOOPED``, of edges with loops."""
    sums = _weight_sums(looped)
    there = np.diff(looped.indptr) > 0  # a row may have a loop of weight 0 alone
    _check_sums(sums, there, " and its loop")
    scale = np.zeros_like(sums)
    scale[there] = sums[there]**-(1.0 if kind == "mean" else 0.5)
    weights = np.repeat(scale, np.diff(looped.indptr)) * looped.data
    if kind == "symmetric":
        weights *= scale[looped.indices]
    return scipy.sparse.csr_array((weights, looped.indices, looped.indptr), shape=looped.shape)


def _neighbour_means(edges: SparseArray) -> SparseArray:
    """Each row of edge weights divided by its sum, rows without edges zero."""
    degrees = np.diff(edges.indptr)
    sums = _weight_sums(edges)
    _check_sums(sums, degrees > 0)
    return scipy.sparse.csr_array(
        (edges.data / np.repeat(sums, degrees), edges.indices, edges.indptr), shape=edges.shape)


def _weight_sums(edges: SparseArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.asarray(edges.sum(axis=1)).ravel()


def _check_sums(sums: FloatArray, there: BoolArray, loop: str = "") -> None:
    """Refuse sums of edge weights that nothing can be divided by, of vertices that have edges."""
    bad = np.flatnonzero(~((sums > 0) & np.isfinite(sums)) & there)
    if bad.size:
        remedy = "normalise the weights yourself and use 'given'" if sums[bad[0]] <= 0 else \
            "scale weights down"
        raise GraphError(f"the edge weights of vertex {bad[0]}{loop} sum to {sums[bad[0]]}; "
                         f"{remedy}")


def normalise_features(features: FloatMatrix) -> FloatMatrix:
    """Each row of features divided by the sum of its magnitudes; a row of zeros stays.

    Raises
    ------
    GraphError
        If that sum, or one divided by it, is beyond the largest float64.
    """
    with np.errstate(over="ignore"):
        sums = _row_sums(abs(features))
        inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    bad = np.flatnonzero(~np.isfinite(sums) | ~np.isfinite(inverse))
    if bad.size:
        raise GraphError(f"the magnitudes of the features of vertex {bad[0]} sum to "
                         f"{sums[bad[0]]}, by which float64 cannot divide; scale features "
                         f"{'down' if sums[bad[0]] > 1 else 'up'}")
    if isinstance(features, scipy.sparse.csr_array):
        return scipy.sparse.csr_array(scipy.sparse.diags_array(inverse) @ features)
    return features * inverse[:, None]


def _row_sums(matrix: FloatMatrix) -> FloatArray:
    """Sum of each row, added in the order of columns: the same bits, dense or sparse."""
    if isinstance(matrix, scipy.sparse.csr_array):
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        return np.asarray(np.bincount(rows, matrix.data, minlength=matrix.shape[0]), np.float64)
    sums = np.zeros(len(matrix))
    for column in matrix.T:
        sums += column
    return sums
