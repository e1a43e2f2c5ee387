# SPDX-License-Identifier: BSD-2-Clause
"""The fastest plan of a strategy is kept, and the fastest that more devices can train."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.planner.plan import (
    ANYTHING,
    EXACT,
    NOT_YET,
    REFERENCES,
    TRAINS,
    Plan,
    PlannedShare,
    fastest,
    pareto,
)

PLANS = st.lists(st.builds(
    Plan, strategy=st.just("one"), scheme=st.just("one"), shares=st.just(()),
    memory=st.just({"board": 1}), seconds=st.integers(1, 5).map(float),
    assignment=st.sampled_from([None, Assignment()]), only_references=st.booleans()), max_size=6)


@given(PLANS)
def test_whatever_a_device_can_train_the_fastest_is_there(plans):
    found = list(fastest(plans))
    for most in range(1, len(TRAINS) + 1):
        able = TRAINS[:most]
        assert min((plan.seconds for plan in found if plan.trains in able), default=0) == min(
            (plan.seconds for plan in plans if plan.trains in able), default=0)
    assert len({plan.trains for plan in found}) == len(found)
    assert found == sorted(found, key=lambda plan: plan.seconds)


def plan(seconds, memory, *, staleness=EXACT, shares=()):
    return Plan(strategy="one", scheme="one", shares=shares, seconds=seconds, staleness=staleness,
                memory={"a": memory, "b": 1})


def test_what_a_plan_needs():
    shares = (PlannedShare(boards=("b", "a"), layers=(1,)), PlannedShare(boards=("c", "b"),
                                                                         layers=(2,)))
    found = plan(1, 7, shares=shares)
    assert (found.fullest, found.boards, found.exact) == (7, ("b", "a", "c"), True)
    assert not plan(1, 1, staleness="weights").exact


def test_what_has_an_assignment_can_be_trained():
    found = plan(1, 1)
    assert (found.trains, replace(found, only_references=True).trains) == (NOT_YET, NOT_YET)
    able = replace(found, assignment=Assignment())
    assert (able.trains, replace(able, only_references=True).trains) == (ANYTHING, REFERENCES)


@given(st.lists(st.builds(plan, st.integers(1, 4), st.integers(1, 4), staleness=st.sampled_from(
    [EXACT, "weights"])), max_size=7))
def test_nothing_beats_what_is_left(plans):
    """Exact plans are not beaten by others; what is left is in the order of time."""
    def beats(one, other):
        return (one.seconds, one.fullest) != (other.seconds, other.fullest) and (
            one.seconds <= other.seconds and one.fullest <= other.fullest) and (
            one.exact or not other.exact)

    found = pareto(tuple(plans))
    assert found == sorted(found, key=lambda one: one.seconds)
    for one in plans:
        beaten = any(beats(other, one) for other in plans)
        same = [other for other in found if (other.seconds, other.fullest) == (
            one.seconds, one.fullest) and (other.exact or not one.exact)]
        assert bool(same) != beaten
    assert len({(one.seconds, one.fullest, one.exact) for one in found}) == len(found)
