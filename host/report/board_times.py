# SPDX-License-Identifier: BSD-2-Clause
"""The boards of a cluster: their last step, and what each of them waited for."""

from html import escape

from matplotlib.figure import Figure

from hypercast.host.files.picture import drawn_text
from hypercast.host.processes.virtual_time import VirtualTime
from hypercast.host.report.drawing import KINDS, SERIES, figure
from hypercast.host.report.folder import Run

__all__ = ["draw", "table"]


def _time(run: Run) -> VirtualTime:
    assert run.boards
    return run.boards


def draw(run: Run) -> Figure:
    """A row for each board and port that was in use, a bar for what it did."""
    time = _time(run)
    used = {interval.track for interval in time.intervals} - {*time.boards}
    tracks = sorted({*time.boards, *used})
    result, [[axes]] = figure(0.9 + 0.28 * len(tracks))
    first = min((interval.begin for interval in time.intervals), default=0.0)
    for interval in time.intervals:
        axes.barh(tracks.index(interval.track), (interval.end - interval.begin) * 1e3,
                  left=(interval.begin - first) * 1e3, height=0.8,
                  color=KINDS.get(interval.name.partition(" ")[0], SERIES[3]))
    axes.set_yticks(range(len(tracks)), [*map(drawn_text, tracks)])
    axes.set(xlabel="ms in the last step")
    axes.invert_yaxis()
    return result


def table(run: Run) -> str:
    """Each board's shares of the whole time."""
    time = _time(run)
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{computed / time.seconds:.1%}</td>"
        f"<td>{waited / time.seconds:.1%}</td></tr>" for name, computed, waited in zip(
            time.boards, time.computed, time.waited, strict=True))
    return (f"<p>{time.seconds / time.steps * 1e3:.4g} ms a step, "
            f"{time.alone / time.seconds:.2f} times as fast as {escape(time.boards[0])} alone.</p>"
            f'<div class="scroll"><table><tr><th>board</th><th>computed</th><th>waited</th></tr>'
            f"{rows}</table></div>")
