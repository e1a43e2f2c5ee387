# SPDX-License-Identifier: BSD-2-Clause
"""Loss, and accuracy or F1, over the epochs."""

from matplotlib.figure import Figure

from hypercast.host.report.drawing import figure
from hypercast.host.report.folder import Run
from hypercast.host.training.curves import draw_curves

__all__ = ["draw"]


def draw(run: Run) -> Figure:
    """Loss, and accuracy or F1, of each split after every epoch."""
    result, [[loss, score]] = figure(3.2, columns=2)
    draw_curves(run.epochs, loss, score)
    return result
