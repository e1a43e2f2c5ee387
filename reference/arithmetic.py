# SPDX-License-Identifier: BSD-2-Clause
"""The chip's integer arithmetic, in NumPy: the definition every hardware block is tested against.

A tensor is integers (mantissas) times ``2 ** exponent``. All functions take and return ``int64``
arrays and are exact; shifts and exponents are plain integers.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import BoolArray, IntArray
from hypercast.rtl.isa import FACTOR_WIDTH, GRADIENT_ZEROS, LOSS_WEIGHT_ONE

__all__ = [
    "EXP_TABLE", "LOG_TABLE", "RECIPROCAL_TABLE", "LossRow", "Rates", "UpdateResult",
    "align", "bit_length", "gradient_term", "keep_mask", "magnitude", "requantize", "rounded_shift",
    "sigmoid_gradient", "softmax_gradient", "update",
]

_MASK32 = np.uint64(0xFFFFFFFF)

# --- Rounding -----------------------------------------------------------------------------------


def rounded_shift(value: npt.ArrayLike, shift: int) -> IntArray:
    """``value / 2**shift`` rounded half to even; ``0 <= shift <= 63``."""
    value = np.asarray(value, dtype=np.int64)
    if shift == 0:
        return value.copy()
    floor: IntArray = value >> shift
    rest = value - (floor << shift)
    half = np.int64(1) << np.int64(shift - 1)
    up: BoolArray = (rest > half) | ((rest == half) & (floor & 1 == 1))
    return floor + up


def requantize(value: npt.ArrayLike, shift: int, width: int) -> tuple[IntArray, int]:
    """Round ``value / 2**shift`` half to even and saturate to ``width`` signed bits.

    Returns
    -------
    tuple
        The mantissas, and how many of them saturated.
    """
    rounded = rounded_shift(value, shift)
    low, high = -(1 << width - 1), (1 << width - 1) - 1
    clipped = np.clip(rounded, low, high)
    return clipped, int(np.count_nonzero(clipped != rounded))


def align(value: npt.ArrayLike, shift: int) -> IntArray:
    """``value * 2**shift``: left if ``shift`` is positive, else right with ``rounded_shift``."""
    value = np.asarray(value, dtype=np.int64)
    return value << shift if shift >= 0 else rounded_shift(value, min(-shift, 63))


def magnitude(value: npt.ArrayLike) -> int:
    """OR over all elements of ``x XOR sign(x)``: its bit length bounds every element's.

    Zero for an empty or all-zero array (and for an array of only 0 and -1).
    """
    value = np.asarray(value, dtype=np.int64)
    return int(np.bitwise_or.reduce((value ^ (value >> 63)).ravel(), initial=0))


def bit_length(value: npt.ArrayLike) -> int:
    """Bits of ``magnitude(value)``: every element fits in that many bits plus sign."""
    value = np.asarray(value)
    ends = (int(value.min()), int(value.max())) if value.size else (0,)
    return max(end if end >= 0 else ~end for end in ends).bit_length()


# --- Dropout ------------------------------------------------------------------------------------

#: Constants of the dropout hash's rounds (the first 32-bit words of the fraction of pi).
ROUND_CONSTANTS = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344,
                   0xA4093822, 0x299F31D0, 0x082EFA98, 0xEC4E6C89)
#: How many rounds mix the vertex; the rest mix the group of features.
VERTEX_ROUNDS = 3


def _round(a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64],
           constant: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """One add-rotate-xor round (after the Speck cipher's) on 32-bit words held in uint64."""
    a = ((a >> np.uint64(8)) | (a << np.uint64(24))) & _MASK32
    a = ((a + b) & _MASK32) ^ np.uint64(constant)
    b = ((b << np.uint64(3)) | (b >> np.uint64(29))) & _MASK32
    return a, b ^ a


def keep_mask(key: int, threshold: int, ranks: npt.ArrayLike, features: npt.ArrayLike) -> BoolArray:
    """Dropout's decision for every (vertex, feature).

    ``(a, b)`` starts as (vertex rank, key) and passes ``VERTEX_ROUNDS`` rounds; then the number
    ``q = feature >> 2`` (16 bits) of its group of four is folded in, ``a ^= q | q << 16`` and
    ``b ^= (q << 8 | q << 24) mod 2**32``, and the remaining rounds follow. The four features take,
    in their order, the low and the high half of ``b``, then the low and the high half of ``a``. An
    element is kept if its half is at least ``threshold``, so it is dropped with probability
    ``threshold / 65536``.

    Parameters
    ----------
    key : int
        32 bits: the layer's key plus the step key, modulo ``2**32``.
    threshold : int
        0 to 65535.
    ranks, features : array_like of int
        Vertex ranks and feature numbers; broadcast against each other.

    Returns
    -------
    numpy.ndarray of bool
        True where the element is kept.
    """
    ranks = np.asarray(ranks, dtype=np.uint64)
    features = np.asarray(features, dtype=np.uint64)
    a, b = ranks & _MASK32, np.full_like(ranks, key & 0xFFFFFFFF)
    for constant in ROUND_CONSTANTS[:VERTEX_ROUNDS]:
        a, b = _round(a, b, constant)
    group = (features >> np.uint64(2)) & np.uint64(0xFFFF)
    a = a ^ (group | group << np.uint64(16))
    b = b ^ ((group << np.uint64(8) | group << np.uint64(24)) & _MASK32)
    for constant in ROUND_CONSTANTS[VERTEX_ROUNDS:]:
        a, b = _round(a, b, constant)
    word = np.where(features & np.uint64(2), a, b)
    half = np.where(features & np.uint64(1), word >> np.uint64(16), word & np.uint64(0xFFFF))
    return half >= np.uint64(threshold)


# --- Losses -------------------------------------------------------------------------------------

#: log2(e) with 14 fraction bits.
LOG2_E = 23637
#: ``2**16 * 2**-(i / 64)`` for i = 0..64, rounded: 2**-x by linear interpolation.
EXP_TABLE = tuple(round(65536 * 2 ** (-i / 64)) for i in range(65))
#: ``2**12 * log2(1 + i / 64)`` for i = 0..64, rounded.
LOG_TABLE = tuple(round(4096 * float(np.log2(1 + i / 64))) for i in range(65))
#: ``2**17 / (1 + i / 64)`` for i = 0..64, rounded.
RECIPROCAL_TABLE = tuple(round((1 << 17) * 64 / (64 + i)) for i in range(65))


class LossRow(NamedTuple):
    """Per vertex results of ``softmax_gradient`` and ``sigmoid_gradient``.

    Attributes
    ----------
    gradient : numpy.ndarray
        (V, C) probabilities minus labels (one-hot, or 0 and 1), times the weight and ``2**33``;
        not masked by split.
    loss : numpy.ndarray
        (V,) cross-entropy in bits, of several labels their sum, times the weight and ``2**12``.
    predicted : numpy.ndarray
        (V,) first class with the largest logit; or (V, C) bool, where the logit is positive.
    """

    gradient: IntArray
    loss: IntArray
    predicted: IntArray | BoolArray


def _interpolate(table: tuple[int, ...], x: IntArray, rest_bits: int) -> IntArray:
    """A table of 65 entries at ``x / 2**rest_bits`` (0 to 64), between entries by a line.

    The distance from the entry below is a product of integers, floored.
    """
    entries = np.array(table, dtype=np.int64)
    index: IntArray = np.minimum(x >> rest_bits, 63)
    rise = entries[index + 1] - entries[index]
    sign: IntArray = np.sign(rise)
    return entries[index] + sign * (abs(rise) * (x - (index << rest_bits)) >> rest_bits)


def _bits(distance: IntArray, shift: int) -> IntArray:
    """Mantissas of logits in bits, with 12 fraction bits."""
    return (distance * LOG2_E << 8) >> shift


def _exponential(bits: IntArray) -> IntArray:
    """``2**-bits`` with 16 fraction bits."""
    places: IntArray = np.minimum(bits >> 12, 31)
    return _interpolate(EXP_TABLE, bits & 4095, 6) >> places


def _log2_1p(x: IntArray) -> IntArray:
    """``log2(1 + x)`` with 12 fraction bits, of ``x`` with 16, at most 1."""
    return _interpolate(LOG_TABLE, x, 10)


def _weigh(loss: IntArray, weights: IntArray) -> IntArray:
    return (loss * weights) >> 15


def softmax_gradient(logits: npt.ArrayLike, labels: npt.ArrayLike, shift: int,
                     weights: npt.ArrayLike = LOSS_WEIGHT_ONE) -> LossRow:
    """Softmax cross-entropy of every row.

    Per row: ``d = max - z``; ``u = (d * LOG2_E << 8) >> shift`` is ``d`` in bits with 12 fraction
    bits; ``e = 2**-u`` with 16 fraction bits by table and linear interpolation; ``S`` their sum;
    ``n = bit_length(S) - 17``; ``R = floor(w * 2**(18 + n) / S)``; the probability times the
    weight is ``(e * R) >> n`` with 33 fraction bits. Every ``>>`` is a floor.

    Parameters
    ----------
    logits : (V, C) array
        Mantissas.
    labels : (V,) array
        Class of each vertex; -1 (no class) gives the plain softmax and a meaningless loss.
    shift : int
        ``LOSS_SHIFT`` minus the logits' exponent, 0 to ``LONGEST_SHIFT``.
    weights : int or (V,) array
        Weight ``w`` of each vertex, 16 bits unsigned, 15 of them fraction bits.
    """
    logits = np.asarray(logits, dtype=np.int64)
    labels = np.asarray(labels, dtype=np.int64)
    weights = np.broadcast_to(np.asarray(weights, dtype=np.int64), labels.shape)
    bits = _bits(logits.max(axis=1, keepdims=True) - logits, shift)
    exponential = _exponential(bits)
    total = exponential.sum(axis=1)
    n = np.frexp(total.astype(np.float64))[1].astype(np.int64) - 17
    reciprocal = (weights << (18 + n)) // total
    probability = (exponential * reciprocal[:, None]) >> n[:, None]
    onehot = labels[:, None] == np.arange(logits.shape[1])
    log2_total = (n << 12) + _log2_1p((total >> n) - 65536)
    own = np.take_along_axis(bits, np.maximum(labels, 0)[:, None], axis=1)[:, 0]
    return LossRow(probability - onehot * (weights << 18)[:, None],
                   _weigh(own + log2_total, weights), logits.argmax(axis=1))


def sigmoid_gradient(logits: npt.ArrayLike, labels: npt.ArrayLike, shift: int,
                     weights: npt.ArrayLike = LOSS_WEIGHT_ONE) -> LossRow:
    """Binary cross-entropy of every row's labels, each with a sigmoid of its own.

    Per label: ``u = (abs(z) * LOG2_E << 8) >> shift`` and ``e = 2**-u``, as for the softmax;
    ``R = 1 / (1 + e)`` with 17 fraction bits by table and linear interpolation; the probability
    of what the sign of ``z`` speaks against, times the weight, is ``s = e * ((R * w) >> 15)`` with
    33 fraction bits. The gradient is ``s`` where the sign is right, ``w - s`` where it is not,
    negative for labels that the vertex has. The loss is ``log2(1 + e)``, and ``u`` more where the
    sign is not right. Every ``>>`` is a floor.

    With ``z`` in real numbers, a probability times ``2**33`` is off by less than ``2**19.5``, and a
    label's loss by less than ``4 + 2**-17 u`` (of ``2**12`` for a bit).

    Parameters
    ----------
    logits : (V, C) array
        Mantissas.
    labels : (V, C) array of bool
        Which labels each vertex has.
    shift, weights
        As for ``softmax_gradient``.
    """
    logits = np.asarray(logits, dtype=np.int64)
    labels = np.asarray(labels, dtype=bool)
    weights = np.broadcast_to(np.asarray(weights, dtype=np.int64), labels.shape[:1])
    bits = _bits(abs(logits), shift)
    exponential = _exponential(bits)
    reciprocal = _interpolate(RECIPROCAL_TABLE, exponential, 10)
    against = exponential * (reciprocal * weights[:, None] >> 15)
    predicted = logits > 0
    wrong = predicted != labels
    gradient = np.where(wrong, (weights << 18)[:, None] - against, against)
    loss = (_log2_1p(exponential) + bits * wrong).sum(axis=1)
    return LossRow(np.where(labels, -gradient, gradient), _weigh(loss, weights), predicted)


# --- Optimiser ----------------------------------------------------------------------------------


class Rates(NamedTuple):
    """SGD's constants as the UPDATE instruction holds them.

    ``v = momentum/2**16 * v + g + decay/2**decay_shift * w``;
    ``w = w - rate/2**rate_shift * v``, in units of the integers.
    """

    momentum: int
    decay: int
    decay_shift: int
    rate: int
    rate_shift: int


class UpdateResult(NamedTuple):
    """New master weights, momenta, operand mantissas, operand magnitude, saturations."""

    master: IntArray
    momentum: IntArray
    operand: IntArray
    magnitude: int
    saturations: int


def gradient_term(gradient: npt.ArrayLike, shift: int) -> IntArray:
    """The term that an accumulated gradient adds to the momenta.

    It is ``gradient * 2**GRADIENT_ZEROS / 2**shift``, and saturates to 34 bits; that changes no sum
    that is saturated to 32 bits.
    """
    # With its zeros it may exceed 64 bits: shift first where that loses nothing.
    if shift >= GRADIENT_ZEROS:
        step = rounded_shift(gradient, shift - GRADIENT_ZEROS)
    else:
        step = np.asarray(gradient, dtype=np.int64)
        limit = np.int64(1) << np.int64(40)
        step = np.clip(step, -limit, limit) << (GRADIENT_ZEROS - shift)
    limit = np.int64(1) << np.int64(33)
    return np.clip(step, -limit, limit - 1)


def update(gradient: IntArray, master: IntArray, momentum: IntArray, rates: Rates,
           gradient_shift: int, operand_shift: int, width: int) -> UpdateResult:
    """One step of SGD with momentum and weight decay.

    Each product is rounded once (half to even); sums saturate to 32 bits.

    Parameters
    ----------
    gradient : array
        Summed gradient accumulators.
    master, momentum : array
        int32 values.
    gradient_shift : int
        Right shift, 0 to ``LONGEST_SHIFT``, applied to ``gradient << GRADIENT_ZEROS``.
    operand_shift : int
        Right shift from master weights to operands of ``width`` bits.
    """
    velocity = (rounded_shift(momentum * np.int64(rates.momentum), FACTOR_WIDTH)
                + gradient_term(gradient, gradient_shift)
                + rounded_shift(master * np.int64(rates.decay), rates.decay_shift))
    velocity, saturated_v = requantize(velocity, 0, 32)
    weight = master - rounded_shift(velocity * np.int64(rates.rate), rates.rate_shift)
    weight, saturated_w = requantize(weight, 0, 32)
    operand, saturated_o = requantize(weight, operand_shift, width)
    return UpdateResult(weight, velocity, operand, magnitude(weight),
                        saturated_v + saturated_w + saturated_o)
