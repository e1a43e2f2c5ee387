# SPDX-License-Identifier: BSD-2-Clause
"""Tasks begin when what they wait for is done and their resources are free, and not later."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.schedules.simulation import Task, simulate

RESOURCES = ("engine", "port", "line")


@st.composite
def tasks(draw):
    """Tasks that wait for some of those before them."""
    found = []
    for number in range(draw(st.integers(1, 12))):
        earlier = st.sets(st.integers(0, number - 1), max_size=3) if number else st.just(set())
        found.append(Task(
            name=f"task {number}", seconds=draw(st.integers(0, 5)),
            latency=draw(st.integers(0, 3)),
            resources=tuple(sorted(draw(st.sets(st.sampled_from(RESOURCES))))),
            after=tuple(draw(earlier)), beside=tuple(draw(earlier))))
    return found


@given(tasks())
def test_tasks_wait_for_what_they_have_to_and_for_nothing_else(work):
    times = simulate(work)
    for number, (task, (begin, end)) in enumerate(zip(work, times, strict=True)):
        assert end == begin + task.seconds
        waited = [0, *(times[other][1] + work[other].latency for other in task.after),
                  *(times[other][0] for other in task.beside)]
        assert begin >= max(waited)
        rivals = [other for other, rival in enumerate(work)
                  if other != number and set(rival.resources) & set(task.resources)]
        for other in rivals:
            first, last = times[other]
            assert last <= begin or end <= first or first == last or begin == end
        if begin > max(waited):  # something held what it needs until then
            assert begin in {times[other][1] for other in rivals}


def test_who_has_waited_longest_goes_first():
    work = [Task(name="first", seconds=4, resources=("line",)),
            Task(name="late", seconds=2), Task(name="early", seconds=1),
            Task(name="after late", seconds=1, resources=("line",), after=(1,)),
            Task(name="after early", seconds=1, resources=("line",), after=(2,))]
    assert simulate(work)[3:] == [(5, 6), (4, 5)]


def test_a_circle_is_named():
    work = [Task(name="hen", seconds=1, after=(1,)), Task(name="egg", seconds=1, after=(0,)),
            Task(name="corn", seconds=1)]
    with pytest.raises(ValueError, match=r"in a circle: hen, egg$"):
        simulate(work)


def test_three_of_a_longer_circle_are_named():
    work = [Task(name=name, seconds=1, after=((number + 1) % 5,))
            for number, name in enumerate("abcde")]
    with pytest.raises(ValueError, match=r"in a circle: a, b, c$"):
        simulate([Task(name="free", seconds=0), *(
            Task(name=task.name, seconds=1, after=(task.after[0] + 1,)) for task in work)])
