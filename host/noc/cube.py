# SPDX-License-Identifier: BSD-2-Clause
"""Draws a hypercube with the loads of its links."""

import math
from typing import Any

import networkx
import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure

__all__ = ["draw_links"]

#: Shades that stand out on white and on black.
_COLOURS = ListedColormap(colormaps["plasma"](np.linspace(0.15, 0.85, 256)))


def _positions(dimensions: int) -> dict[int, npt.NDArray[np.float64]]:
    """A place in the plane for each core: every dimension is a vector of its own."""
    angles = [0.0, 0.5, 0.14, 0.36, 0.25, 0.07][:dimensions]
    lengths = [1.0, 1.0, 0.55, 0.55, 2.2, 3.0][:dimensions]
    vectors = np.array([[length * math.cos(math.pi * angle), length * math.sin(math.pi * angle)]
                        for angle, length in zip(angles, lengths, strict=True)]).reshape(-1, 2)
    return {core: sum((vectors[dimension] for dimension in range(dimensions)
                       if core >> dimension & 1), np.zeros(2)) for core in range(1 << dimensions)}


def draw_links(figure: Figure, axes: Axes, link_flits: npt.NDArray[np.integer[Any]],
               dimensions: int) -> None:
    """Draw the hypercube, its links coloured by their load.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Gets a colour bar.
    axes : matplotlib.axes.Axes
        Where to draw.
    link_flits : (cores, dimensions) numpy.ndarray
        Flits sent along each link, by sending core.
    dimensions : int
        Dimensions of the network.
    """
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(1 << dimensions))
    graph.add_edges_from(
        (core, core ^ 1 << dimension, {"flits": int(flits)})
        for (core, dimension), flits in np.ndenumerate(link_flits))
    places = _positions(dimensions)
    networkx.draw_networkx_nodes(graph, places, ax=axes, node_color="lightgrey", node_size=250)
    networkx.draw_networkx_labels(graph, places, ax=axes, font_size=8)
    if graph.number_of_edges():
        flits = np.array([count for _, _, count in graph.edges(data="flits")])
        scale = ScalarMappable(Normalize(0, flits.max()), _COLOURS)
        networkx.draw_networkx_edges(
            graph, places, ax=axes, edge_color=scale.to_rgba(flits), width=2.0, node_size=250,
            connectionstyle="arc3,rad=0.12")
        figure.colorbar(scale, ax=axes, label="flits sent along the link")
    axes.set_title(f"busiest link {link_flits.max(initial=0)}, "
                   f"mean {link_flits.mean() if link_flits.size else 0:.1f} flits")
    axes.set_axis_off()
