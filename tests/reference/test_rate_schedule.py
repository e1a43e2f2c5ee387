# SPDX-License-Identifier: BSD-2-Clause
"""The learning rate schedule: which factor holds when, and what is refused."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.reference.rate_schedule import check_schedule, rate_factor, schedule_in_steps
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import Kind, Tensor

EPOCHS = st.integers(0, 40)
FACTORS = st.floats(0, 1e6)
SCHEDULES = st.dictionaries(EPOCHS, FACTORS, max_size=6).map(
    lambda factors: tuple(sorted(factors.items())))
#: What holds before the first entry of a schedule.
BEFORE = (-1, 1.0)


@given(SCHEDULES, st.integers(0, 50))
def test_factor_is_that_of_the_last_entry_not_after(schedule, now):
    check_schedule(schedule)
    _, expected = max(entry for entry in (BEFORE, *schedule) if entry[0] <= now)
    assert rate_factor(schedule, now) == expected


@given(SCHEDULES)
def test_an_entry_holds_from_its_start_up_to_the_next(schedule):
    before = 1.0
    for start, factor in schedule:
        if start:
            assert rate_factor(schedule, start - 1) == before
        assert rate_factor(schedule, start) == factor
        before = factor
    assert rate_factor(schedule, 10**9) == before


@given(SCHEDULES, st.integers(1, 9), st.integers(0, 50), st.data())
def test_in_steps_a_factor_holds_for_whole_epochs(schedule, steps, epoch, data):
    """Whatever step of an epoch it is."""
    within = data.draw(st.integers(0, steps - 1))
    stretched = schedule_in_steps(schedule, 51, steps)
    check_schedule(stretched)
    assert rate_factor(stretched, epoch * steps + within) == rate_factor(schedule, epoch)


@given(SCHEDULES, st.integers(1, 50), st.integers(1, 9))
def test_what_comes_after_the_last_epoch_is_left_out(schedule, epochs, steps):
    kept = schedule_in_steps(schedule, epochs, steps)
    assert len(kept) == sum(start < epochs for start, _ in schedule)
    assert all(start < epochs * steps for start, _ in kept)


@given(SCHEDULES, st.integers(0, 50))
def test_a_recipe_multiplies_its_rates(schedule, step):
    recipe = Recipe(learning_rates=(0.5,), bias_learning_rates=(0.25,), schedule=schedule)
    factor = rate_factor(schedule, step)
    assert recipe.learning_rate(Tensor(Kind.WEIGHTS, 1), step) == 0.5 * factor
    assert recipe.learning_rate(Tensor(Kind.BIAS, 2), step) == 0.25 * factor


@given(st.lists(st.tuples(EPOCHS, FACTORS), max_size=6).map(tuple))
def test_only_ascending_epochs_are_taken(schedule):
    starts = [epoch for epoch, _ in schedule]
    if all(first < second for first, second in pairwise(starts)):
        check_schedule(schedule)
        return
    for refused in (check_schedule, lambda given: Recipe(schedule=given)):
        with pytest.raises(ValueError, match="schedule must be") as found:
            refused(schedule)
        assert str(found.value) == (
            f"schedule must be in order of epochs, each there once, not {starts}")


@given(SCHEDULES, st.one_of(
    st.tuples(st.integers(max_value=-1), FACTORS),
    st.tuples(EPOCHS, st.floats(max_value=0, exclude_max=True)),
    st.tuples(EPOCHS, st.sampled_from([math.inf, math.nan]))))
def test_bad_entries_are_refused(schedule, bad):
    """Before the order is."""
    epoch, factor = bad
    for refused in (check_schedule, lambda given: Recipe(schedule=given)):
        with pytest.raises(ValueError, match="schedule has factor") as found:
            refused((*schedule, bad))
        assert str(found.value) == (
            f"schedule has factor {factor} from epoch {epoch} on; epochs must be at least 0, and "
            f"factors finite and not negative")


def test_no_schedule():
    assert rate_factor((), 0) == rate_factor((), 10**9) == 1.0
    check_schedule(())
    assert schedule_in_steps((), 3, 3) == ()
