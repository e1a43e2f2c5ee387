# SPDX-License-Identifier: BSD-2-Clause
"""Losses by rounding: warns where they are large, refuses where a column of features vanishes."""

import math
import warnings
from collections.abc import Mapping

import numpy as np
import scipy.sparse

from hypercast.host.graphs.graph_error import GraphError
from hypercast.host.graphs.interchange.weights import WeightsError
from hypercast.reference.array_types import FloatArray, FloatMatrix, IntArray
from hypercast.reference.edge_weights import rounding_error
from hypercast.reference.quantization import lowest_exponent, quantize
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.isa import MASTER_EXPONENT

__all__ = ["RoundingWarning", "check_edges", "check_features", "check_rates", "check_weights"]

#: A smaller share of the values is not warned of: some of any are near zero.
_SHARE = 0.01
#: Mean relative error of a vertex's values that is not warned of.
_ERROR = 1 / 8


class RoundingWarning(UserWarning):
    """Numbers that are others to the chip than to the graph."""


def check_features(features: FloatMatrix, width: int) -> None:
    """Warn of features that are not zero, but will be rounded to it, or are rounded coarsely.

    All have one exponent, by the largest of them.

    Parameters
    ----------
    features : (V, F) array or scipy.sparse.csr_array of float64
        The features in the form in which they are trained on.
    width : int
        Bits of an element.

    Raises
    ------
    GraphError
        If all that a column has are rounded to zero.
    """
    sparse = features if isinstance(features, scipy.sparse.csr_array) else None
    magnitudes: FloatArray = abs(features if sparse is None else sparse.data)
    largest = float(magnitudes.max(initial=0))
    unit = math.ldexp(1.0, lowest_exponent(largest, width))
    there, lost = magnitudes > 0, (magnitudes > 0) & (magnitudes <= unit / 2)
    counts: IntArray
    gone: IntArray
    if sparse is not None:
        counts, gone = (np.bincount(sparse.indices[chosen], minlength=sparse.shape[1])
                        for chosen in (there, lost))
    else:
        counts, gone = (np.count_nonzero(chosen, axis=0) for chosen in (there, lost))
    rounding = (f"all features are rounded to multiples of {unit:.3g}, so that {width}-bit "
                f"elements hold the largest, {largest:.3g}")
    empty = np.flatnonzero((gone == counts) & (counts > 0))
    if empty.size:
        columns = f"feature {empty[0]}" if empty.size == 1 else \
            f"{empty.size} features, such as {empty[0]},"
        values = magnitudes[:, empty[0]] if sparse is None else \
            magnitudes[sparse.indices == empty[0]]
        raise GraphError(
            f"{columns} would be zero at all vertices: {rounding}, and it is at most "
            f"{values.max():.3g}; scale features to like sizes, correct outliers, or leave it out")
    share = gone.sum() / max(counts.sum(), 1)
    if share > _SHARE:
        warnings.warn(
            f"{share:.1%} of the features that are not zero will be: {rounding}; scale features to "
            f"like sizes, or correct outliers", RoundingWarning, stacklevel=2)
    else:
        _check_error(_features_error(features, width), "features", width)


def check_weights(parameters: Mapping[Tensor, FloatArray], place: str) -> None:
    """Warn of initial weights that are not zero, but will be rounded to it.

    All are rounded to multiples of one unit.

    Parameters
    ----------
    parameters : dict
        float64 arrays by name (W1, b1, ...).
    place : str
        The file that they are from, for messages.

    Raises
    ------
    WeightsError
        If all that a matrix of weights has are rounded to zero.
    """
    unit = math.ldexp(1.0, MASTER_EXPONENT)
    rounding = f"all weights are rounded to multiples of {unit:.3g}"
    there = gone = 0
    for name, values in parameters.items():
        known = int(np.count_nonzero(values))
        lost = int(np.count_nonzero((values != 0) & (np.abs(values) <= unit / 2)))
        if known and lost == known and name.kind != Kind.BIAS:
            raise WeightsError(
                f"{place}: weights {name} would all be zero: {rounding}, and they are at most "
                f"{np.abs(values).max():.3g}; scale them up, or leave the file out")
        there, gone = there + known, gone + lost
    if gone > _SHARE * there:
        warnings.warn(f"{place}: {gone / there:.1%} of the initial weights that are not zero will "
                      f"be: {rounding}; scale them up", RoundingWarning, stacklevel=2)


def check_rates(recipe: Recipe) -> None:
    """Warn of learning rates so low that weights, which are multiples of a unit, may never change.

    A step of Adam is about as long as its rate; one of SGD is the rate times the gradient, of which
    more than 1 is seldom.
    """
    unit = math.ldexp(1.0, MASTER_EXPONENT)
    rates = [*(recipe.learning_rates or ()), *(recipe.bias_learning_rates or ())]
    low = [rate for rate in rates if 0 < rate < unit / 2]
    if low:
        warnings.warn(
            f"a learning rate is {min(low):.3g}, and all weights are rounded to multiples of "
            f"{unit:.3g}: a step may change none; raise it, or scale features up and weights down",
            RoundingWarning, stacklevel=2)


def check_edges(sample: Sample) -> None:
    """Warn where the edge weights of a ``Sample`` are rounded coarsely."""
    _check_error(sample.edge_error, "edge weights", sample.element_width)


def _check_error(error: float, what: str, width: int) -> None:
    if error > _ERROR:
        remedy = "use 16-bit elements" if width < 16 else f"scale {what} to like sizes"
        warnings.warn(
            f"{width}-bit elements change the {what} of a vertex by {error:.0%} on average, for "
            f"all have one exponent; {remedy}", RoundingWarning, stacklevel=3)


def _features_error(features: FloatMatrix, width: int) -> float:
    """Mean relative rounding error of a vertex's features."""
    if isinstance(features, scipy.sparse.csr_array):
        sparse, exponent = quantize(features, width)
        rows = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))
        return rounding_error(features.data, sparse.data, exponent, rows)
    mantissas, exponent = quantize(features, width)
    rows = np.repeat(np.arange(features.shape[0]), features.shape[1])
    return rounding_error(features.ravel(), mantissas.ravel(), exponent, rows)
