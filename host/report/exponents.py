# SPDX-License-Identifier: BSD-2-Clause
"""How the numbers behaved: exponents of all tensors, and saturations, epoch by epoch."""

from html import escape

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hypercast.host.report.drawing import SERIES, figure
from hypercast.host.report.folder import Run
from hypercast.reference.tensor import ONE

__all__ = ["draw", "table"]


def draw(run: Run) -> Figure:
    """Saturations above, a row for each tensor's exponent below."""
    names = [name for name in run.epochs[0]["exponents"] if name != ONE]
    exponents = np.array([[record["exponents"][name] for record in run.epochs]
                          for name in names])
    epochs = np.array([record["epoch"] + 1 for record in run.epochs])
    result, [[above], [below]] = figure(
        1.8 + 0.19 * len(names), rows=2, sharex=True,
        height_ratios=[1.2, 0.19 * len(names)])
    saturations = [record["saturations"] for record in run.epochs]
    above.bar(epochs, saturations, width=1.0, color=SERIES[1])
    above.set(ylabel="saturations", title=f"saturations in all: {sum(saturations):,}",
              ylim=(0, max(1, *saturations) * 1.05))
    above.yaxis.set_major_locator(MaxNLocator(4, integer=True))

    levels = np.arange(exponents.min(), exponents.max() + 2) - 0.5
    shades = ListedColormap(colormaps["viridis"](np.linspace(0, 1, len(levels) - 1)))
    image = below.imshow(
        exponents, aspect="auto", cmap=shades, norm=BoundaryNorm(levels, shades.N),
        interpolation="nearest",
        extent=(epochs[0] - 0.5, epochs[-1] + 0.5, len(names) - 0.5, -0.5))
    below.set_yticks(range(len(names)), names, fontsize=8)
    below.set(xlabel="epoch", title="a value is its mantissa times 2 to the exponent")
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    bar = result.colorbar(image, ax=below, label="exponent")
    bar.ax.yaxis.set_major_locator(MaxNLocator(8, integer=True))
    bar.ax.minorticks_off()
    return result


def table(run: Run) -> str:
    """HTML of each tensor's exponent, range, saturations and error; nothing if not kept."""
    if not run.numbers:
        return ""
    rows = "".join(
        f"<tr><th>{escape(tensor.name)}<td>{tensor.exponent}<td>{tensor.largest:.4g}"
        f"<td>{tensor.bits}<td>{tensor.saturations:,}"
        f"<td>{'' if tensor.error is None else f'{tensor.error:.2e}'}" for tensor in run.numbers)
    return (f"<table><tr><th>tensor<th>exponent<th>largest magnitude<th>bits of the largest"
            f"<th>saturations<th>error against float64{rows}</table>{_explanation(run)}")


def _explanation(run: Run) -> str:
    """HTML of where errors come from, if elements of the table's step saturated."""
    names = [escape(tensor.name) for tensor in run.numbers if tensor.saturations]
    if not names:
        return ""
    return (f"<p>In this step, {', '.join(names)} grew by more than the headroom, and what did not "
            f"fit became the largest number that does. The errors there, and of the tensors that "
            f"are computed from there, are mostly of these elements, not of rounding. Gradients "
            f"vary most, as dropout leaves out other inputs in every step. The next step's "
            f"exponents follow.</p>")
