"""Exponents of the parameters' momenta: chosen for the first step, raised as gradients grow."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from hypercast.reference.fixed_layers import Gradient
from hypercast.reference.tensor import Tensor

__all__ = ["MomentumExponents"]

#: Bits of a momentum's magnitude, and how many of them are room for larger gradients at first.
_MOMENTUM_BITS, _ROOM = 31, 4
#: Finest unit of momenta, in bits below the gradient's own: more resolution is useless.
_FINEST = 10
#: Bits by which a gradient's exponent may grow before the momentum's follows.
_SLACK = 3


class MomentumExponents:
    """The unit of each parameter's momenta, ``2**exponent`` of its accumulated gradients.

    Momenta live through steps of which each has its own exponents. Small features or weights let
    gradients grow a thousandfold from the first step on, and there are too few bits to be ready for
    that. So before a step exponents are raised by one, of momenta whose gradients have grown by
    more than 3 bits since the last time; the step then keeps half of what momenta it would keep,
    and a quarter of second moments, so that their values are what they were. Exponents are known
    when the step begins, on every device; they never go down.

    Attributes
    ----------
    raised : frozenset of Tensor
        Parameters whose exponent was raised by the last ``follow``.
    """

    def __init__(self) -> None:
        self._exponents: dict[Tensor, int] = {}
        self._factors: dict[Tensor, tuple[Tensor, Tensor]] = {}
        self._largest: dict[Tensor, int] = {}  # of a gradient's exponent minus its momentum's
        self.raised: frozenset[Tensor] = frozenset()

    def __getitem__(self, name: Tensor) -> int:
        return self._exponents[name]

    def choose(self, name: Tensor, gradient: Gradient[np.int64], *, kept: float,
               least: int) -> None:
        """Choose an exponent for the first step.

        There is room for 16 times what such gradients build up to.

        Parameters
        ----------
        name : Tensor
            A parameter.
        gradient : Gradient
            Gradient of the first step.
        kept : float
            Share of the momenta that each step keeps.
        least : int
            Lowest exponent.
        """
        build_up = math.ceil(math.log2(1 / (1 - kept)))
        exponent = max(gradient.reach + build_up + _ROOM - _MOMENTUM_BITS,
                       gradient.exponent - _FINEST, least)
        self._exponents[name] = exponent
        self._factors[name] = gradient.factors
        self._largest[name] = gradient.exponent - exponent + _SLACK

    def follow(self, base: Callable[[Tensor, Tensor], int]) -> None:
        """Raise exponents by one where gradients have grown, before a step.

        Parameters
        ----------
        base : callable
            Exponent of the product of two tensors as it is now.
        """
        self.raised = frozenset(
            name for name, exponent in self._exponents.items()
            if base(*self._factors[name]) - exponent > self._largest[name])
        for name in self.raised:
            self._exponents[name] += 1

    def entries(self) -> dict[Tensor, int]:
        """Exponents by parameter."""
        return dict(self._exponents)

    def load(self, entries: Mapping[Tensor, int]) -> None:
        """Take over what ``entries`` gave."""
        self._exponents = dict(entries)
