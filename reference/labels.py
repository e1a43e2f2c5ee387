# SPDX-License-Identifier: BSD-2-Clause
"""Labels and loss weights of the vertices to train on, as losses take them."""

import math

import numpy as np
import numpy.typing as npt

from hypercast.errors import InputError
from hypercast.reference.array_types import BoolArray, FloatArray, IntArray
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY
from hypercast.rtl.isa import LOSS_WEIGHT_ONE, RECORD_WIDTH

__all__ = ["checked_labels", "checked_loss_weights", "quantized_loss_weights"]


def checked_labels(labels: npt.ArrayLike, loss: str, classes: int) -> IntArray | BoolArray:
    """Labels as the loss takes them: (V,) int64, or (V, classes) bool.

    Raises
    ------
    InputError
        If they are of another kind, or do not fit the number of classes.
    """
    labels = np.asarray(labels)
    several = loss == BINARY_CROSS_ENTROPY
    if labels.ndim != (2 if several else 1):
        raise InputError(f"loss {loss} takes {'a row of labels' if several else 'one class'} per "
                         f"vertex, not labels of shape {labels.shape}; choose the other loss")
    if several:
        if labels.shape[1] != classes:
            raise InputError(f"there are {labels.shape[1]} labels per vertex, but the network has "
                             f"{classes} outputs; give it as many")
        return labels.astype(bool)
    if labels.max(initial=-1) >= classes:
        raise InputError(f"label {labels.max()} does not fit the network's {classes} outputs")
    return labels.astype(np.int64)


def checked_loss_weights(weights: npt.ArrayLike | None, vertices: int) -> FloatArray:
    """Loss weights as (V,) float64: ones if there are none.

    Raises
    ------
    InputError
        If there is not one finite number per vertex, none negative and one positive.
    """
    weights = np.ones(vertices) if weights is None else np.asarray(weights, dtype=np.float64)
    if weights.shape != (vertices,):
        raise InputError(f"loss weights must have shape {(vertices,)}, not {weights.shape}")
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if bad.size:
        raise InputError(f"loss weight of vertex {bad[0]} is {weights[bad[0]]}; give a finite "
                         f"number, not negative")
    if not weights.any():
        raise InputError("all loss weights are zero; give at least one vertex a positive one")
    return weights


def quantized_loss_weights(weights: FloatArray,
                           unit: float | None = None) -> tuple[IntArray, float]:
    """Loss weights as the chip has them.

    Parameters
    ----------
    weights : (V,) array of float64
        As checked.
    unit : float, optional
        The unit to be used, a power of two.

    Returns
    -------
    tuple
        Mantissas, (V,) int64 of 16 bits without sign, and the unit: the weight that
        ``LOSS_WEIGHT_ONE`` stands for, a power of two. The largest mantissa has its highest bit
        set, so a weight is off by at most ``2**-16`` of the largest one, if no unit is given.

    Raises
    ------
    InputError
        If a weight is too large for the unit.
    """
    largest = float(weights.max())
    if unit is not None:
        mantissas = np.rint(weights * (LOSS_WEIGHT_ONE / unit)).astype(np.int64)
        if mantissas.max() >= 1 << RECORD_WIDTH:
            raise InputError(f"loss weight {largest} is not below {2 * unit}, which others of this "
                             f"training allow")
        return mantissas, unit
    exponent = math.frexp(largest)[1] - RECORD_WIDTH
    if round(math.ldexp(largest, -exponent)) == 1 << RECORD_WIDTH:
        exponent += 1
    mantissas = np.rint(np.ldexp(weights, -exponent)).astype(np.int64)
    return mantissas, LOSS_WEIGHT_ONE * 2.0**exponent
