"""Loads of the hypercube's links in the step."""

import numpy as np

from hypercast.host.noc.cube import draw_links
from hypercast.host.report.drawing import figure

__all__ = ["draw"]


def draw(run):
    """The hypercube, each link coloured by the flits sent along it."""
    result, [[axes]] = figure(5.6)
    counters = run.counters()
    loads = np.array([counters[f"link_{dimension}"]
                      for dimension in range(run.config.dimensions)]).T
    draw_links(result, axes, loads, run.config.dimensions)
    return result
