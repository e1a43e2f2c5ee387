# SPDX-License-Identifier: BSD-2-Clause
"""The learning rate schedule: factors of all learning rates, each from some epoch on."""

import math
from typing import TypeAlias

from hypercast.errors import require

__all__ = ["RateSchedule", "check_schedule", "rate_factor", "schedule_in_steps"]

#: Pairs of an epoch (from 0, ascending) and the factor from there on.
RateSchedule: TypeAlias = tuple[tuple[int, float], ...]


def check_schedule(schedule: RateSchedule) -> None:
    """Refuse a schedule that is not in order, or whose factors are no factors of a rate.

    Raises
    ------
    InputError
        If an epoch is negative, or not above the epoch of the entry before it; or if a factor is
        negative or not finite.
    """
    for epoch, factor in schedule:
        require(epoch >= 0 and 0 <= factor < math.inf,
                f"schedule has factor {factor} from epoch {epoch} on; epochs must be at least "
                f"0, and factors finite and not negative")
    starts = [epoch for epoch, _ in schedule]
    require(starts == sorted(set(starts)),
            f"schedule must be in order of epochs, each there once, not {starts}")


def rate_factor(schedule: RateSchedule, now: int) -> float:
    """The factor of learning rates: from the last entry that is not after ``now``.

    Parameters
    ----------
    schedule : RateSchedule
        A schedule that ``check_schedule`` takes.
    now : int
        Counts from 0, in units of the schedule: epochs as given, or steps for a device, see
        ``schedule_in_steps``.

    Returns
    -------
    float
        1 before the first entry.
    """
    factors = [factor for start, factor in schedule if start <= now]
    return factors[-1] if factors else 1.0


def schedule_in_steps(schedule: RateSchedule, epochs: int, steps: int = 1) -> RateSchedule:
    """The same schedule for a device, which counts steps; without entries after the last step.

    Parameters
    ----------
    schedule : RateSchedule
        It counts epochs.
    epochs : int
        Epochs of the training.
    steps : int
        Steps of an epoch, at least 1.
    """
    return tuple((epoch * steps, factor) for epoch, factor in schedule if epoch < epochs)
