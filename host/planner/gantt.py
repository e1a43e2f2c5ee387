# SPDX-License-Identifier: BSD-2-Clause
"""Draws a plan's schedule: a row for each board and port, a bar for each micro-batch."""

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from hypercast.errors import InputError
from hypercast.host.files.picture import drawn_text
from hypercast.host.planner.plan import Plan
from hypercast.host.schedules.execution import FORWARD

__all__ = ["draw_gantt"]

#: Colours by direction, and whether it is a transfer.
_COLOURS = {(True, False): "#4477aa", (False, False): "#cc6677",
            (True, True): "#99bbdd", (False, True): "#eebbcc"}
_NAMES = {(True, False): "forward", (False, False): "backward",
          (True, True): "send results", (False, True): "send gradients"}
#: Bars that are at least this share of the whole have their micro-batch's number.
_NUMBERED = 0.008


def draw_gantt(plan: Plan) -> Figure:
    """Draw the schedule of a plan.

    Parameters
    ----------
    plan : Plan
        The plan.

    Raises
    ------
    InputError
        If all of its boards do the same all the time, so that there is nothing to draw.
    """
    if not plan.intervals:
        raise InputError(f"{plan.strategy} has no schedule to draw: all boards do the same at the "
                         f"same time; leave --gantt out")
    boards = list(dict.fromkeys(
        interval.track for interval in plan.intervals if not interval.transfer))
    tracks = boards + sorted({interval.track for interval in plan.intervals if interval.transfer})
    end = max(interval.end for interval in plan.intervals)
    figure = Figure(figsize=(12, 1.2 + 0.3 * len(tracks)), layout="constrained")
    axes = figure.subplots()
    for interval in plan.intervals:
        if interval.end == interval.begin:
            continue
        key = (interval.direction == FORWARD, interval.transfer)
        row = tracks.index(interval.track)
        axes.barh(row, (interval.end - interval.begin) * 1e3, left=interval.begin * 1e3, height=0.8,
                  color=_COLOURS[key], edgecolor="white", linewidth=0.3)
        if interval.end - interval.begin > _NUMBERED * end and not interval.transfer:
            axes.text((interval.begin + interval.end) * 500, row, str(interval.micro_batch + 1),
                      fontsize=6, ha="center", va="center", color="white")
    axes.set_yticks(range(len(tracks)), [*map(drawn_text, tracks)])
    axes.set(xlabel="ms, predicted", title=f"{plan.strategy}, {plan.schedule}: {plan.scheme}")
    axes.invert_yaxis()
    axes.legend(handles=[Patch(color=_COLOURS[key], label=name) for key, name in _NAMES.items()],
                ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.12), fontsize=8)
    return figure
