# SPDX-License-Identifier: BSD-2-Clause
"""Sums and peaks of a step's samples before its one update, in any order and any place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Self

from hypercast.errors import InputError
from hypercast.reference.arithmetic import bit_length
from hypercast.reference.array_types import IntArray
from hypercast.reference.exponents import AccumulatorError
from hypercast.reference.metrics import Metrics
from hypercast.reference.tensor import Tensor

__all__ = ["StepSums"]


@dataclass(frozen=True, kw_only=True, eq=False)
class StepSums:
    """Sums and peaks of forward and backward passes of one or several samples.

    Every pass begins with the same parameters and the same exponent file, so all of them choose
    the same exponents. Their gradients are added up, and of peaks the largest counts. So neither
    the order of samples nor who computed them changes a bit.

    Parameters
    ----------
    gradients : dict
        Parameter to the accumulators of its gradient, in full width.
    entries : dict
        Every entry of the exponent file after the passes: exponent and peak.
    metrics : Metrics
        Metrics of the forward passes.
    saturations : int
        Elements that saturated.
    """

    gradients: Mapping[Tensor, IntArray]
    entries: Mapping[Tensor, tuple[int, int | None]]
    metrics: Metrics
    saturations: int

    def __add__(self, other: Self) -> "StepSums":
        return StepSums(
            gradients={name: values + other.gradients[name]
                       for name, values in self.gradients.items()},
            entries={name: _merge(name, entry, other.entries[name])
                     for name, entry in self.entries.items()},
            metrics=self.metrics + other.metrics,
            saturations=self.saturations + other.saturations)

    def check(self, accumulator_width: int) -> None:
        """Raise ``AccumulatorError`` if a gradient does not fit an accumulator of so many bits."""
        for name, gradient in self.gradients.items():
            if bit_length(gradient) >= accumulator_width:
                raise AccumulatorError(
                    f"the gradient of {name} takes more than the {accumulator_width} bits of an "
                    f"accumulator, summed over the vertices of a step; take fewer micro_batches, "
                    f"smaller samples, or element_width 8")

    @staticmethod
    def total(parts: Iterable["StepSums"]) -> "StepSums":
        """The sum of at least one."""
        return reduce(StepSums.__add__, parts)


def _merge(name: Tensor, one: tuple[int, int | None],
           other: tuple[int, int | None]) -> tuple[int, int | None]:
    """Exponent and peak of an entry after the passes of both."""
    if one[0] != other[0]:
        raise InputError(f"{name} has exponent {one[0]} in one sample of a step, {other[0]} in "
                         f"another; make all samples of a step with the same exponents")
    peaks = [peak for _, peak in (one, other) if peak is not None]
    return one[0], max(peaks, default=None)
