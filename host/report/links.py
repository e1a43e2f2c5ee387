# SPDX-License-Identifier: BSD-2-Clause
"""Loads of the hypercube's links in the step."""

import numpy as np
from matplotlib.figure import Figure

from hypercast.host.noc.cube import draw_links
from hypercast.host.report.drawing import figure
from hypercast.host.report.folder import Run

__all__ = ["draw"]


def draw(run: Run) -> Figure:
    """The hypercube, each link coloured by the flits sent along it."""
    result, [[axes]] = figure(5.6)
    counters = run.counters()
    loads = np.array([counters[f"link_{dimension}"]
                      for dimension in range(run.config.dimensions)]).T
    draw_links(result, axes, loads, run.config.dimensions)
    return result
