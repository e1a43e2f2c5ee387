# SPDX-License-Identifier: BSD-2-Clause
"""How pictures of a report look: colours that work on white and black, and SVG for a page."""

import io
import re
from collections.abc import Callable
from typing import Any

import matplotlib
import numpy.typing as npt
from matplotlib.figure import Figure

from hypercast.host.compiler.phase_name import PhaseKind
from hypercast.host.report.folder import Run

__all__ = ["CAUSES", "KINDS", "SERIES", "figure", "picture"]

#: Stands for the page's text colour, which a figure gets from the page.
_INK = "#123456"
#: Colours of the kinds of phases.
KINDS: dict[str, str] = {
    PhaseKind.FORWARD: "#3d8bd4", PhaseKind.LOSS: "#c9a227", PhaseKind.BACKWARD: "#d4623d",
    PhaseKind.UPDATE: "#3fa66b"}
#: Colours of what an engine's cycles went to.
CAUSES = {"work": "#3fa66b", "starved": "#c9a227", "blocked": "#d4623d", "idle": "#9aa0a6"}
#: Colours of series that are neither.
SERIES = ("#3d8bd4", "#d4623d", "#3fa66b", "#a874c8", "#c9a227", "#2aa5a0", "#c8608f", "#8a8f45")

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9, "axes.titlesize": 10,
    "text.color": _INK, "axes.edgecolor": _INK, "axes.labelcolor": _INK, "xtick.color": _INK,
    "ytick.color": _INK, "axes.spines.top": False, "axes.spines.right": False,
    "legend.frameon": False, "legend.fontsize": 8, "axes.facecolor": "none",
}


def figure(height: float, *, rows: int = 1, columns: int = 1,
           **options: Any) -> tuple[Figure, npt.NDArray[Any]]:
    """A figure as wide as the page, ``height`` inches high, and its axes in an array."""
    result = Figure(figsize=(9.6, height), layout="constrained")
    return result, result.subplots(rows, columns, squeeze=False, **options)


def picture(draw: Callable[[Run], Figure], run: Run, name: str, title: str) -> str:
    """A figure as SVG to be put into a page.

    Parameters
    ----------
    draw : callable
        Makes the figure of a run.
    run : Run
        The run.
    name : str
        Unique in the page.
    title : str
        The drawing's contents, for people who cannot see it.
    """
    buffer = io.StringIO()
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": name}):
        draw(run).savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg"):].replace(_INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*"', "<g", text)  # the same in every figure, and nothing needs them
    text = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', "", text, count=1)
    return text.replace("<svg", f'<svg role="img" aria-label="{title}"', 1)
