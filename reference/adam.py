# SPDX-License-Identifier: BSD-2-Clause
"""Adam in integers, in NumPy: the definition that its hardware blocks are tested against.

Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015. As with momentum, the chip keeps
sums that are not normalised, of the accumulated gradients ``s``::

    m = beta1 * m + s           V = beta2 * V + s**2
    w = w - rate * m / (sqrt(V) + epsilon)

``1 - beta1``, ``1 - beta2``, both bias corrections and the unit of ``s`` are in the constants
``rate`` and ``epsilon`` of each step. A square spans twice the bits of its root, and how fast a sum
forgets is a share of it, however small it is; so ``V``, the second moment, is a floating-point
number: ``mantissa * 4**exponent``, with 26 and 5 bits, in units of ``2**-12`` of the momenta's
squared. The mantissa is at least ``2**24`` unless the exponent is 0. Powers of four have whole
roots.
"""

import math
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hypercast.errors import InputError
from hypercast.reference.arithmetic import (
    gradient_term,
    magnitude,
    requantize,
    rounded_shift,
)
from hypercast.reference.array_types import BoolArray, IntArray
from hypercast.reference.quantization import mantissa_and_shift
from hypercast.rtl.isa import EPSILON_WIDTH, FACTOR_ONE, FACTOR_WIDTH

__all__ = [
    "AdamRates", "AdamResult", "adam_update", "direction", "next_second_moment",
    "pack_second_moment", "unpack_second_moment",
]

#: Bits of a second moment's mantissa; the exponent lies above it.
_MANTISSA_BITS = 26
#: Fraction bits of a second moment, in units of the momenta's squared.
_SECOND_BITS = 12
#: Bits of a root's mantissa, of ``epsilon`` and of their sum; the highest is one.
_ROOT_BITS = EPSILON_WIDTH
#: Fraction bits of the sum if its exponent is 0, in units of the momenta.
_FRACTION_BITS = _ROOT_BITS + (_SECOND_BITS - _MANTISSA_BITS) // 2
#: Fraction bits of ``m / (sqrt(V) + epsilon)``.
_DIRECTION_BITS = 24
#: Zeros appended to a momentum times a reciprocal, so that it is shifted by just the exponent.
_ZEROS = _DIRECTION_BITS + _FRACTION_BITS - (2 * _ROOT_BITS - 2)
#: Of a second moment.
_LARGEST_EXPONENT = 31
#: Of a gradient's magnitude, these leading bits are squared.
_SQUARED_BITS = 18


class AdamRates(NamedTuple):
    """Adam's constants as the UPDATE instruction holds them, first the fields of ``Rates``.

    ``m = momentum/2**16 * m + s`` with ``s = g + decay/2**decay_shift * w``;
    ``V = V - second_decay/2**second_decay_shift * V + s**2``;
    ``w = w - rate/2**rate_shift * (2**24 * m / (sqrt(V) + 2**(epsilon_exponent-11) * epsilon))``,
    in units of the integers. ``second_decay/2**second_decay_shift`` is 0.0001 to 0.875, and
    ``epsilon`` at least ``2**17``.
    """

    momentum: int
    decay: int
    decay_shift: int
    rate: int
    rate_shift: int
    second_decay: int
    second_decay_shift: int
    epsilon: int
    epsilon_exponent: int

    @classmethod
    def of_step(cls, step: int, *, betas: tuple[float, float], epsilon: float, learning_rate: float,
                decay: float, unit: float, master_unit: float, raised: bool = False) -> Self:
        """Constants of a step.

        Parameters
        ----------
        step : int
            Number of the step, from 1.
        betas : tuple of float
            Shares of the moments that stay.
        epsilon, learning_rate : float
            In the units of gradients and weights. An ``epsilon`` below 64 units of the momenta
            counts as that: so small, gradients are little more than their rounding.
        decay : float
            Factor of the weights that are added to the momenta, integers both.
        unit : float
            Value of a gradient that counts as 1 in the momenta.
        master_unit : float
            Value of a master weight of 1.
        raised : bool
            Whether the moments are still in units of half of ``unit``, and of a quarter of its
            square.

        Raises
        ------
        InputError
            If a constant is too large for its field.
        """
        momentum = round(betas[0] * FACTOR_ONE)
        second_decay, second_shift = mantissa_and_shift(1 - betas[1], f"beta2 {betas[1]}")
        # The moments are kept with the rounded constants, so the corrections use these too.
        kept, forgotten = momentum / FACTOR_ONE, math.ldexp(second_decay, -second_shift)
        corrected = (1 - kept) / (1 - kept**step)
        growth = math.sqrt(-math.expm1(step * math.log1p(-forgotten)) / forgotten)
        # The growth is near its limit for many steps.
        largest = math.ldexp(unit * math.sqrt(forgotten),
                             _LARGEST_EXPONENT + _ROOT_BITS - _FRACTION_BITS)
        if epsilon >= largest:
            raise InputError(f"epsilon {epsilon} is too large against gradients in units of "
                             f"{unit:.3g}; give one below {largest:.3g}")
        added = max(math.ldexp(epsilon * growth / unit, _FRACTION_BITS), 1 << _ROOT_BITS - 1)
        exponent = math.frexp(added)[1] - _ROOT_BITS
        mantissa, shift = mantissa_and_shift(decay, "weight decay")
        rate, rate_shift = mantissa_and_shift(
            learning_rate * corrected * growth / math.ldexp(master_unit, _DIRECTION_BITS),
            f"learning rate {learning_rate:.6g}")
        if raised:
            momentum >>= 1
            second_decay, second_shift = mantissa_and_shift(
                (3 + forgotten) / 4, f"beta2 {betas[1]}")
        return cls(momentum, mantissa, shift, rate, rate_shift, second_decay, second_shift,
                   int(math.ldexp(added, -exponent)), exponent)


class AdamResult(NamedTuple):
    """New state, operand mantissas, operand magnitude, saturations."""

    master: IntArray
    momentum: IntArray
    second_moment: IntArray
    operand: IntArray
    magnitude: int
    saturations: int


def pack_second_moment(mantissa: IntArray, exponent: IntArray) -> IntArray:
    """A second moment in its stored form, below ``2**31``."""
    return exponent << _MANTISSA_BITS | mantissa


def unpack_second_moment(packed: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """Mantissa and exponent of a stored second moment."""
    packed = np.asarray(packed, dtype=np.int64)
    return packed & (1 << _MANTISSA_BITS) - 1, packed >> _MANTISSA_BITS


def _length(value: IntArray) -> IntArray:
    """Bit length of every element, which is not negative and below ``2**53``."""
    return np.frexp(value.astype(np.float64))[1].astype(np.int64)


def _shift(value: IntArray, places: IntArray) -> IntArray:
    """``value`` divided by ``2**places``, and rounded down."""
    return value >> np.minimum(places, 63)


def next_second_moment(packed: npt.ArrayLike, gradient: npt.ArrayLike,
                       rates: AdamRates) -> IntArray:
    """The second moment after a gradient; both stored ones are packed.

    18 leading bits of the gradient's magnitude are squared, and 26 bits of the square are taken.
    The smaller of old moment and square is aligned with the larger. Everything is rounded down.

    The error: the square is too small by less than ``2**-16`` of it. Old moment, alignment and
    result lose less than 2 units of the sum's last place, which is below ``2**-22`` of it, or, of
    sums below ``2**24`` units, less than 2. Errors are forgotten as the moment itself is, so the
    error of any moment is below ``2**-16 + 2**-22 / (1 - beta2)`` of it and ``2 / (1 - beta2)``
    units.

    Parameters
    ----------
    packed : array
        Stored second moments.
    gradient : array
        32-bit values ``s``.
    rates : AdamRates
        Gives ``second_decay`` and its shift.
    """
    mantissa, exponent = unpack_second_moment(packed)
    mantissa = mantissa - (mantissa * rates.second_decay >> rates.second_decay_shift)
    size = abs(np.asarray(gradient, dtype=np.int64))
    length = _length(size)
    leading = size << 32 - length >> 32 - _SQUARED_BITS
    square = leading * leading >> 2 * _SQUARED_BITS - _MANTISSA_BITS
    square_exponent = length + (_SECOND_BITS - _MANTISSA_BITS) // 2
    common = np.maximum(exponent, square_exponent)
    total = (_shift(mantissa, 2 * (common - exponent))
             + _shift(square, 2 * (common - square_exponent)))
    above = total >> _MANTISSA_BITS != 0
    below = (total >> _MANTISSA_BITS - 2 == 0) & (common > 0)
    return pack_second_moment(
        np.where(above, total >> 2, np.where(below, total << 2, total)), common + above - below)


def direction(momentum: npt.ArrayLike, packed: npt.ArrayLike,
              rates: AdamRates) -> tuple[IntArray, BoolArray]:
    """``2**24 * m / (sqrt(V) + epsilon)``, rounded half to even and saturated to 32 bits.

    Root and epsilon are rounded down to 18 bits of the larger, and so is their sum: it is too small
    by less than ``2**-16`` of it. Its reciprocal is rounded down, too, by less than ``2**-16`` of
    it. So the direction is off by less than ``2**-15`` of it, and by 1/2.

    If ``beta1**2 < beta2`` it is below ``1 / sqrt(1 - beta1**2 / beta2)``, by the inequality of
    Cauchy and Schwarz: 2.3 with the usual betas. At 128 it saturates.

    Parameters
    ----------
    momentum : array
        int32 values.
    packed : array
        Stored second moments.
    rates : AdamRates
        Gives ``epsilon`` and its exponent.

    Returns
    -------
    tuple
        The directions, and where they saturated.
    """
    mantissa, exponent = unpack_second_moment(packed)
    # A float64 holds the radicand exactly, and its root to more bits than decide the floor.
    radicand = mantissa << 2 * _ROOT_BITS - _MANTISSA_BITS
    root = np.floor(np.sqrt(radicand.astype(np.float64))).astype(np.int64)
    common = np.maximum(exponent, rates.epsilon_exponent)
    total = (root >> common - exponent) + (rates.epsilon >> common - rates.epsilon_exponent)
    carry = total >> _ROOT_BITS
    reciprocal = (1 << 2 * _ROOT_BITS - 2) // (total >> carry)
    product = np.asarray(momentum, dtype=np.int64) * reciprocal << _ZEROS
    places = common + carry
    exact = np.empty_like(product)
    for chosen in np.unique(places):
        exact[places == chosen] = rounded_shift(product[places == chosen], int(chosen))
    result = np.clip(exact, -1 << 31, (1 << 31) - 1)
    return result, result != exact


def adam_update(gradient: IntArray, master: IntArray, momentum: IntArray, second_moment: IntArray,
                rates: AdamRates, gradient_shift: int, operand_shift: int,
                width: int) -> AdamResult:
    """One step of Adam; weight decay is added to the gradient, as in ``torch.optim.Adam``.

    As ``arithmetic.update``, but that the kept share of the momenta is rounded towards zero: else a
    few units would stay for ever, and weigh more and more while the second moment fades. Against
    real numbers ``s`` is off by at most 1, a new momentum by less than 2.

    Parameters
    ----------
    gradient : array
        Summed gradient accumulators.
    master, momentum, second_moment : array
        State; second moments in their stored form.
    rates : AdamRates
        Constants.
    gradient_shift : int
        Right shift, 0 to ``LONGEST_SHIFT``, applied to ``gradient << GRADIENT_ZEROS``.
    operand_shift : int
        Right shift from master weights to operands of ``width`` bits.

    Returns
    -------
    AdamResult
        In ``saturations``, ``s``, momentum and direction of an element count as one.
    """
    total = gradient_term(gradient, gradient_shift) + rounded_shift(
        master * np.int64(rates.decay), rates.decay_shift)
    limits = -1 << 31, (1 << 31) - 1
    clipped = np.clip(total, *limits)
    towards_zero = np.where(np.asarray(momentum) < 0, FACTOR_ONE // 2, -FACTOR_ONE // 2)
    velocity = total + rounded_shift(
        momentum * np.int64(rates.momentum) + towards_zero, FACTOR_WIDTH)
    new_momentum = np.clip(velocity, *limits)
    second_moment = next_second_moment(second_moment, clipped, rates)
    step, too_long = direction(new_momentum, second_moment, rates)
    weight, saturated_w = requantize(
        master - rounded_shift(step * np.int64(rates.rate), rates.rate_shift), 0, 32)
    operand, saturated_o = requantize(weight, operand_shift, width)
    saturated = np.count_nonzero((total != clipped) | (velocity != new_momentum) | too_long)
    return AdamResult(weight, new_momentum, second_moment, operand, magnitude(weight),
                      int(saturated) + saturated_w + saturated_o)
