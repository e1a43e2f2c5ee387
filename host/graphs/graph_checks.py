# SPDX-License-Identifier: BSD-2-Clause
"""Checks of what a graph is made of; each returns its part as ``Graph`` keeps it."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.graphs.graph_error import GraphError, about
from hypercast.host.graphs.interchange.tensors import as_array
from hypercast.reference.array_types import (
    BoolArray,
    FloatArray,
    FloatMatrix,
    IntArray,
    SparseArray,
)
from hypercast.rtl.isa import Split

__all__ = ["SPARSE_DENSITY", "checked_features", "checked_labels", "checked_splits",
           "checked_vertices"]

#: Dense features become sparse if a smaller share of them is not zero: training on the reference
#: is hardly slower then, and with dropout many times faster (``hypercast bench epochs``). The bits
#: and the compiled program are the same.
SPARSE_DENSITY = 1 / 8
#: Rows that a matrix of weights can have.
_MOST_FEATURES = (1 << 31) - 1
#: What the class in a label record of the chip can count to.
_MAXIMUM_LABEL = (1 << 13) - 1


def checked_features(features: npt.ArrayLike | SparseArray) -> FloatMatrix:
    """Features as (V, F) float64, CSR if they were sparse, or fewer are not zero than
    ``SPARSE_DENSITY``."""
    given = as_array(features, "features")
    if given.dtype.kind not in "biuf":
        raise GraphError(f"features must be real numbers, not of type {given.dtype}; "
                         f"numpy.asarray(features, dtype=float) makes numbers of objects")
    if given.ndim != 2 or 0 in given.shape:
        raise GraphError(f"features have shape {given.shape}; give at least one vertex and "
                         f"one feature, a row per vertex")
    if given.shape[1] > _MOST_FEATURES:
        raise GraphError(f"features have {given.shape[1]} columns, but there are weights for "
                         f"{_MOST_FEATURES} at most; leave out those that no vertex has")
    checked: FloatMatrix
    if scipy.sparse.issparse(given):
        summed = scipy.sparse.csr_array(given, copy=True)
        summed.sum_duplicates()  # in the type that they have, as SciPy does
        checked = summed.astype(np.float64)
        values: FloatArray = checked.data
    else:
        checked = np.array(given, dtype=np.float64)
        values = checked.ravel()
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        where = checked.tocoo().coords if isinstance(checked, scipy.sparse.csr_array) else \
            np.indices(checked.shape).reshape(2, -1)
        raise GraphError(f"feature {where[1][bad[0]]} of vertex {where[0][bad[0]]} is "
                         f"{values[bad[0]]}; replace it by a number")
    if isinstance(checked, np.ndarray) and (
            np.count_nonzero(checked) < SPARSE_DENSITY * checked.size):
        return scipy.sparse.csr_array(checked)
    return checked


def checked_labels(labels: npt.ArrayLike | SparseArray) -> IntArray | BoolArray:
    """Labels as (V,) int64, -1 for none, or as (V, C) bool.

    A single column is a class per vertex, not a multi-label graph of one class; numbers with a
    point that are whole are classes.
    """
    given = as_array(labels, "labels")
    given = given.toarray() if scipy.sparse.issparse(given) else given
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim == 2:
        return _checked_label_sets(given)
    if given.ndim == 1 and given.dtype.kind in "bf":
        given = _whole(given)
    if given.ndim != 1 or given.dtype.kind not in "iu":
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
    found: IntArray = given.astype(np.int64)
    return found


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
                         f"{labels.dtype}; give a column per class")
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
            vertices = np.sort(checked_vertices(vertices, f"the {name} split", len(labels)))
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


def checked_vertices(vertices: npt.ArrayLike, name: str, count: int) -> IntArray:
    """Numbers of some vertices as int64, each below ``count`` and there once, in their order.

    Parameters
    ----------
    vertices : array
        Numbers, or a boolean for each vertex of the graph.
    name : str
        What has these vertices, for messages.
    count : int
        Vertices of the graph.
    """
    given = as_array(vertices, name)
    given = given.toarray() if scipy.sparse.issparse(given) else given
    if given.dtype == bool:
        if given.shape != (count,):
            raise GraphError(f"{name} has {given.size} booleans for {count} vertices; give one "
                             f"each")
        given = np.flatnonzero(given)
    if not given.size and given.ndim == 1:  # of any type
        given = given.astype(np.int64)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise GraphError(f"{name} is of shape {given.shape} and type {given.dtype}; give a list of "
                         f"vertex numbers, or booleans")
    numbers, times = np.unique(given, return_counts=True)
    if times.max(initial=1) > 1:
        raise GraphError(f"{name} names vertex {numbers[times.argmax()]} {times.max()} times; name "
                         f"each once, or give booleans if it is a mask")
    outside = numbers[(numbers < 0) | (numbers >= count)]
    if outside.size:
        raise GraphError(f"{name} names vertex {outside[0]}, but vertices are 0 to {count - 1}; "
                         f"remove it")
    found: IntArray = given.astype(np.int64)
    return found
