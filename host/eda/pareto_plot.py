# SPDX-License-Identifier: BSD-2-Clause
"""Draws configurations: time of a step over the share of the FPGA."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from hypercast.host.eda.exploration import Candidate
from hypercast.host.files.picture import drawn_text

__all__ = ["draw_pareto"]


def draw_pareto(candidates: Sequence[Candidate], best: Sequence[Candidate],
                title: str) -> Figure:
    """Draw all candidates, and a line through the best.

    Parameters
    ----------
    candidates, best : sequence of Candidate
        All candidates, and the candidates on the line.
    title : str
        Title of the drawing.
    """
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.subplots()
    for lanes in sorted({one.config.lanes for one in candidates}):
        some = [one for one in candidates if one.config.lanes == lanes]
        axes.scatter([one.taken for one in some], [one.seconds * 1e3 for one in some], s=18,
                     label=f"{lanes} lanes")
    axes.plot([one.taken for one in best], [one.seconds * 1e3 for one in best], color="grey",
              drawstyle="steps-post", linewidth=1)
    axes.set(xlabel="largest share of a resource, estimated", ylabel="ms for a step, predicted",
             yscale="log", title=drawn_text(title))
    axes.legend()
    return figure
