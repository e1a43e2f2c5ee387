# SPDX-License-Identifier: BSD-2-Clause
"""One UPDATE of a parameter, by whichever optimiser its constants are of."""

from collections.abc import Mapping

from hypercast.reference.adam import AdamRates, AdamResult, adam_update
from hypercast.reference.arithmetic import Rates, UpdateResult, update
from hypercast.reference.array_types import IntArray

__all__ = ["update_rows"]


def update_rows(kept: Mapping[str, IntArray], gradient: IntArray, rates: Rates | AdamRates,
                gradient_shift: int, operand_shift: int, width: int) -> UpdateResult | AdamResult:
    """A parameter's state after a step; changes nothing.

    Parameters
    ----------
    kept : dict
        The optimiser's state of it, as in a ``TrainingState``.
    gradient : array
        Accumulators of its gradient.
    rates : Rates or AdamRates
        Constants of the step.
    gradient_shift, operand_shift, width
        As of ``update``.
    """
    values = gradient, kept["master"], kept["momentum"]
    if isinstance(rates, AdamRates):
        return adam_update(*values, kept["second_moment"], rates, gradient_shift, operand_shift,
                           width)
    return update(*values, rates, gradient_shift, operand_shift, width)
