# SPDX-License-Identifier: BSD-2-Clause
"""Schedules as drawings: a row for each board and port, a bar for each micro-batch."""

from dataclasses import replace

import pytest

from hypercast.host.planner.gantt import draw_gantt
from hypercast.host.planner.pipelines import BoardStage, evaluate
from hypercast.host.planner.strategies import bapipe
from hypercast.host.schedules.execution import BACKWARD, FORWARD
from tests.host.planner.problems import cluster, problem


@pytest.fixture(scope="module")
def plan():
    found = problem([4, 2], cluster(1, 1, gigabits=8e-6), output=1000)
    return evaluate(found, bapipe.DISCIPLINE, [
       BoardStage((number,), (board,)) for number, board in enumerate(found.boards)], "SNO")


def test_each_interval_is_a_bar_where_it_is(plan):
    [axes] = draw_gantt(plan).axes
    rows = [label.get_text() for label in axes.get_yticklabels()]
    assert rows[:2] == ["b0-0", "b1-0"] and rows[2:] == sorted(rows[2:])
    assert len(rows) == len({interval.track for interval in plan.intervals}) == len(
        axes.get_yticks())
    bars = axes.patches
    assert len(bars) == len(plan.intervals)
    for bar, interval in zip(bars, plan.intervals, strict=True):
        assert bar.get_x() == pytest.approx(1e3 * interval.begin)
        assert bar.get_width() == pytest.approx(1e3 * (interval.end - interval.begin))
        assert bar.get_y() + bar.get_height() / 2 == pytest.approx(rows.index(interval.track))


def test_directions_and_transfers_have_their_colours(plan):
    [axes] = draw_gantt(plan).axes
    legend = {text.get_text(): handle.get_facecolor() for text, handle in zip(
        axes.get_legend().get_texts(), axes.get_legend().legend_handles, strict=True)}
    assert len(set(legend.values())) == 4
    names = {(FORWARD, False): "forward", (BACKWARD, False): "backward",
             (FORWARD, True): "send results", (BACKWARD, True): "send gradients"}
    for bar, interval in zip(axes.patches, plan.intervals, strict=True):
        assert bar.get_facecolor() == legend[names[interval.direction, interval.transfer]]


def test_bars_of_boards_have_numbers_from_1(plan):
    [axes] = draw_gantt(plan).axes
    computed = [interval for interval in plan.intervals if not interval.transfer]
    assert [text.get_text() for text in axes.texts] == [
        str(interval.micro_batch + 1) for interval in computed]
    for text, interval in zip(axes.texts, computed, strict=True):
        assert text.get_position()[0] == pytest.approx(500 * (interval.begin + interval.end))


def test_what_takes_no_time_is_not_drawn_and_what_is_short_has_no_number(plan):
    first, *others = plan.intervals
    none = first._replace(end=first.begin) if hasattr(first, "_replace") else replace(
        first, end=first.begin)
    [axes] = draw_gantt(replace(plan, intervals=(none, *others))).axes
    assert len(axes.patches) == len(others)
    end = max(interval.end for interval in plan.intervals)
    for share, numbers in ((0.007, 0), (0.009, 1)):
        short = first._replace(end=first.begin + share * end) if hasattr(first, "_replace") \
            else replace(first, end=first.begin + share * end)
        [axes] = draw_gantt(replace(plan, intervals=(short, *others))).axes
        computed = sum(not interval.transfer for interval in others)
        assert len(axes.texts) == computed + numbers


def test_a_plan_without_a_schedule_is_not_drawn(plan):
    with pytest.raises(ValueError, match=r"BaPipe has no schedule to draw: .*; leave --gantt out"):
        draw_gantt(replace(plan, intervals=()))


def test_a_picture_grows_by_the_row_and_names_its_plan(plan):
    """The first row is on top; the legend is one row below the axes, with smaller letters."""
    figure = draw_gantt(plan)
    [axes] = figure.axes
    rows = len({interval.track for interval in plan.intervals})
    assert figure.get_size_inches().tolist() == pytest.approx([12, 1.2 + 0.3 * rows])
    assert axes.yaxis_inverted() and not axes.xaxis_inverted()
    assert axes.get_title() == f"BaPipe, SNO: {plan.scheme}"
    assert axes.get_xlabel() == "ms, predicted"
    figure.draw_without_rendering()
    keys = [text.get_window_extent() for text in axes.get_legend().get_texts()]
    assert len({round(key.y0) for key in keys}) == 1
    assert max(key.y1 for key in keys) < axes.bbox.y0
    assert {text.get_fontsize() for text in axes.get_legend().get_texts()} == {8}
    assert {text.get_fontsize() for text in axes.texts} == {6}


def test_bars_are_as_long_as_they_take_wherever_they_begin(plan):
    """A bar at the end that is too short for a number has none, as one at the beginning."""
    computed = [one for one in plan.intervals if not one.transfer]
    end = max(one.end for one in plan.intervals)
    late = replace(computed[-1], begin=end * (1 - 0.007), end=end)
    exact = replace(computed[-1], begin=0.0, end=0.008 * end)
    [axes] = draw_gantt(replace(plan, intervals=(*plan.intervals, late, exact))).axes
    assert len(axes.patches) == len(plan.intervals) + 2
    assert len(axes.texts) == len(computed)
