# SPDX-License-Identifier: BSD-2-Clause
"""Exponents of the parameters' momenta: chosen for the first step, raised as gradients grow."""

import math
from collections.abc import Mapping

import numpy as np

from hypercast.reference.fixed_layers import Gradient
from hypercast.reference.tensor import Tensor

__all__ = ["MomentumExponents", "first_momentum_exponent"]

#: Bits of a momentum's magnitude, and how many of them are left for larger gradients at first.
_MOMENTUM_BITS, _HEADROOM = 31, 4
#: Finest unit of momenta, in bits below the gradient's own: more resolution is useless.
_FINEST = 10
#: Bits by which a gradient's exponent may grow before the momentum's follows.
_SLACK = 3


def first_momentum_exponent(gradient: Gradient[np.int64], *, kept: float, least: int,
                            more: int = 0, coarser: int = 0) -> int:
    """The exponent of a parameter's momenta in the first step.

    It leaves bits for 16 times the momenta that such gradients build up.

    Parameters
    ----------
    gradient : Gradient
        Gradient of the first step's first sample.
    kept : float
        Share of the momenta that each step keeps.
    least : int
        Lowest exponent.
    more : int
        Bits that the sum over all samples of a step may have more than one's.
    coarser : int
        Bits by which the gradient's unit is coarser than it has to be, as headroom makes it: its
        momenta's need not be as fine, and have room for gradients that grow.
    """
    build_up = math.ceil(math.log2(1 / (1 - kept)))
    return max(gradient.reach + more + build_up + _HEADROOM - _MOMENTUM_BITS,
               gradient.exponent - _FINEST + coarser, least)


class MomentumExponents:
    """The unit of each parameter's momenta, ``2**exponent`` of its accumulated gradients.

    Momenta live through many steps, and each step has its own exponents. Small features or weights
    let gradients grow a thousandfold from the first step on, and there are too few bits to be ready
    for that. So before a step, the exponents of momenta are raised by one if their gradients have
    grown by more than 3 bits since the last time. The step then keeps half as much of the momenta
    as otherwise, and a quarter as much of second moments, so that their values do not change.
    Exponents are known when the step begins, on every device; they never go down.

    Parameters
    ----------
    momenta, gradients : dict
        Parameter to the exponent of its momenta, and of its accumulated gradient, in the first
        step.

    Attributes
    ----------
    raised : frozenset of Tensor
        Parameters whose exponent was raised by the last ``follow``.
    """

    def __init__(self, momenta: Mapping[Tensor, int], gradients: Mapping[Tensor, int]) -> None:
        self._exponents = dict(momenta)
        #: The most that a gradient's exponent may be above its momentum's.
        self._largest = {name: gradients[name] - exponent + _SLACK
                         for name, exponent in momenta.items()}
        self.raised: frozenset[Tensor] = frozenset()

    def __getitem__(self, name: Tensor) -> int:
        return self._exponents[name]

    def follow(self, gradients: Mapping[Tensor, int]) -> None:
        """Raise exponents by one where gradients have grown, before a step.

        Parameters
        ----------
        gradients : dict
            Parameter to the present exponent of its accumulated gradient.
        """
        self.raised = frozenset(
            name for name, exponent in self._exponents.items()
            if gradients[name] - exponent > self._largest[name])
        for name in self.raised:
            self._exponents[name] += 1

    def entries(self) -> dict[Tensor, int]:
        """Exponents by parameter."""
        return dict(self._exponents)

    def load(self, entries: Mapping[Tensor, int]) -> None:
        """Take over the exponents that ``entries`` gave."""
        self._exponents = dict(entries)
