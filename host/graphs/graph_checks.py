"""Checks of what a graph is made of; each returns its part as ``Graph`` keeps it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.reference.array_types import (
    BoolArray,
    FloatArray,
    FloatMatrix,
    IntArray,
    SparseArray,
)
from hypercast.rtl.isa import Split

__all__ = ["GraphError", "about", "checked_features", "checked_labels", "checked_splits",
           "merged_edges"]

#: Whatever SciPy calls sparse.
_SPARSE = (scipy.sparse.sparray, scipy.sparse.spmatrix)
#: What the class in a label record of the chip can count to.
_MAXIMUM_LABEL = (1 << 13) - 1


class GraphError(ValueError):
    """A graph that cannot be trained on; names the value, where it is, and what to do.

    Attributes
    ----------
    part : str
        What of it is wrong: ``edges``, ``features``, ``labels``, or ``train``, ``validation`` or
        ``test``; empty if it is none of them alone.
    """

    part = ""


@contextmanager
def about(part: str) -> Iterator[None]:
    """A context in which a ``GraphError`` is about a part of the graph."""
    try:
        yield
    except GraphError as error:
        error.part = part
        raise


def checked_features(features: npt.ArrayLike | SparseArray) -> FloatMatrix:
    """Features as (V, F) float64, dense or CSR as they were."""
    given = features if isinstance(features, _SPARSE) else np.asarray(features)
    if given.dtype.kind not in "biuf":
        raise GraphError(f"features must be real numbers, not of type {given.dtype}; "
                         f"numpy.asarray(features, dtype=float) makes numbers of objects")
    checked: FloatMatrix
    if isinstance(given, _SPARSE):
        checked = scipy.sparse.csr_array(given, dtype=np.float64, copy=True)
        checked.sum_duplicates()
        values: FloatArray = checked.data
    else:
        checked = np.array(given, dtype=np.float64)
        values = checked.ravel()
    if checked.ndim != 2 or 0 in checked.shape:
        raise GraphError(f"features have shape {checked.shape}; give at least one vertex and "
                         f"one feature, a row per vertex")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        where = checked.tocoo().coords if isinstance(checked, _SPARSE) else np.indices(
            checked.shape).reshape(2, -1)
        raise GraphError(f"feature {where[1][bad[0]]} of vertex {where[0][bad[0]]} is "
                         f"{values[bad[0]]}; replace it by a number")
    return checked


def checked_labels(labels: npt.ArrayLike | SparseArray) -> IntArray | BoolArray:
    """Labels as (V,) int64, -1 for none, or as (V, C) bool.

    A single column is a class per vertex, not a multi-label graph of one class; numbers with a
    point that are whole are classes.
    """
    given: npt.NDArray[Any] = labels.toarray() if isinstance(labels, _SPARSE) else np.array(labels)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim == 2:
        return _checked_label_sets(given)
    if given.ndim == 1 and given.dtype.kind in "bf":
        given = _whole(given)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise GraphError(f"labels must be one integer per vertex, or a row of 0 and 1, not an "
                         f"array of shape {given.shape} and type {given.dtype}; "
                         f"numpy.unique(labels, return_inverse=True)[1] numbers names")
    bad = np.flatnonzero(given < -1)
    if bad.size:
        raise GraphError(f"label of vertex {bad[0]} is {given[bad[0]]}; use 0 and up for "
                         f"classes, -1 for none")
    bad = np.flatnonzero(given > _MAXIMUM_LABEL)
    if bad.size:
        raise GraphError(f"label of vertex {bad[0]} is {given[bad[0]]}, but labels go up to "
                         f"{_MAXIMUM_LABEL}; number the classes from 0")
    return given.astype(np.int64)


def _whole(labels: npt.NDArray[Any]) -> IntArray:
    """Labels, (V,) array of bool or float, as int64."""
    labels = labels.astype(np.float64)
    bad = np.flatnonzero(np.isnan(labels))
    if bad.size:
        raise GraphError(f"label of vertex {bad[0]} is not a number; give its class, or -1 if it "
                         f"is not known")
    bad = np.flatnonzero((labels != np.rint(labels)) | (abs(labels) > _MAXIMUM_LABEL))
    if bad.size:
        raise GraphError(f"label of vertex {bad[0]} is {labels[bad[0]]}, but classes are whole "
                         f"numbers up to {_MAXIMUM_LABEL}; only classes can be trained")
    return labels.astype(np.int64)


def _checked_label_sets(labels: npt.NDArray[Any]) -> BoolArray:
    if labels.shape[1] == 0:
        raise GraphError("labels have no columns; give one per class")
    if labels.dtype.kind not in "biuf":
        raise GraphError(f"labels of a multi-label graph must be 0 and 1, not of type "
                         f"{labels.dtype}")
    bad = np.argwhere((labels != 0) & (labels != 1))
    if bad.size:
        vertex, label = bad[0]
        raise GraphError(f"label {label} of vertex {vertex} is {labels[vertex, label]}; use 1 for "
                         f"the classes it has, 0 for others")
    return labels.astype(bool)


def checked_splits(labels: IntArray | BoolArray, train: npt.ArrayLike, validation: npt.ArrayLike,
                   test: npt.ArrayLike) -> IntArray:
    """``Split`` of each vertex, as (V,) int64, from checked labels and each split's members."""
    members = {Split.TRAIN: train, Split.VALIDATION: validation, Split.TEST: test}
    known = labels >= 0 if labels.ndim == 1 else np.ones(len(labels), dtype=bool)
    splits = np.zeros(len(labels), dtype=np.int64)
    for split, vertices in members.items():
        name = split.name.lower()
        with about(name):
            vertices = _members(vertices, name, len(labels))
            shared = vertices[splits[vertices] != Split.NONE]
            if shared.size:
                other = Split(splits[shared[0]]).name.lower()
                raise GraphError(f"vertex {shared[0]} is in the {other} and in the {name} split; "
                                 f"leave it in one")
            missing = vertices[~known[vertices]]
            if missing.size:
                raise GraphError(f"vertex {missing[0]} of the {name} split has no label; give it "
                                 f"one or take it out of the split")
            splits[vertices] = split
            if split == Split.TRAIN and not vertices.size:
                raise GraphError("the train split is empty; name at least one vertex")
    return splits


def _members(vertices: npt.ArrayLike, name: str, count: int) -> IntArray:
    """Numbers of a split's vertices, each below ``count`` and there once."""
    vertices = np.asarray(vertices)
    if vertices.dtype == bool:
        if vertices.shape != (count,):
            raise GraphError(f"the {name} split has {vertices.size} booleans for {count} vertices; "
                             f"give one each")
        vertices = np.flatnonzero(vertices)
    if vertices.ndim != 1 or (vertices.size and not np.issubdtype(vertices.dtype, np.integer)):
        raise GraphError(f"the {name} split is of shape {vertices.shape} and type "
                         f"{vertices.dtype}; give a list of vertex numbers, or booleans")
    vertices, times = np.unique(vertices, return_counts=True)
    if times.max(initial=1) > 1:
        raise GraphError(f"the {name} split names vertex {vertices[times.argmax()]} "
                         f"{times.max()} times; name each once, or give booleans if it is a mask")
    outside = vertices[(vertices < 0) | (vertices >= count)]
    if outside.size:
        raise GraphError(f"the {name} split names vertex {outside[0]}, but vertices are 0 to "
                         f"{count - 1}; remove it")
    return vertices.astype(np.int64)


def merged_edges(edges: npt.ArrayLike, weights: npt.ArrayLike | None, vertices: int,
                 directed: bool) -> SparseArray:
    """Edges and their weights as a (V, V) CSR array, a row per target, every edge once."""
    edges = np.asarray(edges)
    if edges.shape in ((0,), (0, 2)):  # of any type
        edges = np.zeros((0, 2), dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2 or not np.issubdtype(edges.dtype, np.integer):
        raise GraphError(f"edges must be pairs of vertex numbers, an array of integers of shape "
                         f"(edges, 2), not of shape {edges.shape} and type {edges.dtype}")
    edges = edges.astype(np.int64, copy=False)
    if edges.size and (edges.min() < 0 or edges.max() >= vertices):
        outside = np.flatnonzero(((edges < 0) | (edges >= vertices)).any(axis=1))
        source, target = edges[outside[0]]
        raise GraphError(f"edge {outside[0]} leads from vertex {source} to {target}, but vertices "
                         f"are 0 to {vertices - 1}; remove it or number the vertices from 0")
    if weights is not None:
        weights = _checked_weights(weights, len(edges))
    ways = [edges.T] if directed else [edges.T, edges.T[::-1]]
    pairs = np.empty(len(edges) * len(ways), dtype=np.int64)
    for part, (sources, targets) in zip(np.split(pairs, len(ways)), ways, strict=True):
        np.multiply(targets, vertices, out=part)
        part += sources
    if weights is None:
        # Not by np.unique, which takes a hash table: 14 times as long for ten million edges.
        pairs.sort()
        new = np.ones(len(pairs), dtype=bool)
        np.not_equal(pairs[1:], pairs[:-1], out=new[1:])
        pairs = pairs[new]
        weights = np.ones(len(pairs))
    else:
        pairs, weights = _merged_weights(pairs, np.resize(weights, len(pairs)), vertices)
    targets, index = pairs // vertices, scipy.sparse.get_index_dtype(
        maxval=max(len(pairs), vertices))
    pairs -= targets * vertices
    starts = np.concatenate(([0], np.cumsum(np.bincount(targets, minlength=vertices))))
    return scipy.sparse.csr_array(
        (weights, pairs.astype(index), starts.astype(index)), shape=(vertices, vertices))


def _checked_weights(weights: npt.ArrayLike, edges: int) -> FloatArray:
    weights = np.asarray(weights)
    if weights.dtype.kind not in "biuf":
        raise GraphError(f"weights must be real numbers, not of type {weights.dtype}; give one "
                         f"number per edge")
    weights = weights.astype(np.float64)
    if weights.shape != (edges,):
        raise GraphError(f"weights have shape {weights.shape}, but there are {edges} edges; give "
                         f"one number each")
    bad = np.flatnonzero(~np.isfinite(weights))
    if bad.size:
        raise GraphError(f"weight of edge {bad[0]} is {weights[bad[0]]}; replace it by a number")
    return weights


def _merged_weights(pairs: IntArray, weights: FloatArray,
                    vertices: int) -> tuple[IntArray, FloatArray]:
    """Each pair (target * vertices + source) once, and its weight."""
    merged, first, inverse = np.unique(pairs, return_index=True, return_inverse=True)
    conflict = np.flatnonzero(weights != weights[first][inverse])
    if conflict.size:
        target, source = divmod(pairs[conflict[0]], vertices)
        pair_weights = weights[first][inverse][conflict[0]], weights[conflict[0]]
        raise GraphError(f"the edge from vertex {source} to {target} has weights {pair_weights[0]} "
                         f"and {pair_weights[1]}; give it one, or, if they are those of its two "
                         f"directions, declare the graph directed")
    return merged, weights[first]
