"""Draws latency over load, and a hypercube with the loads of its links."""

import math

import networkx
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from hypercast.host.noc.measurement import measure
from hypercast.host.noc.patterns import creation_cycles

__all__ = ["draw", "latency_curve"]

#: Injection rates of the curve, relative to the rate at which the bound is reached.
_LOADS = (0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)


def latency_curve(simulation, traffic, config, bound, **options):
    """Latencies in an open loop, at a number of rates.

    Parameters
    ----------
    simulation, traffic, config
        As for ``measure``, like ``options``.
    bound : Bound
        Of the traffic.

    Returns
    -------
    rates : numpy.ndarray
        Messages per core and cycle.
    latencies : numpy.ndarray
        (rates, 3) float64: mean, median and 99th percentile of the cycles from creation to
        delivery, for the messages in the middle half of the time.
    """
    per_core = len(traffic.source) / config.cores
    rates = np.minimum(np.array(_LOADS) * per_core / bound.cycles, 1.0)
    latencies = []
    for rate in rates:
        created = creation_cycles(traffic.source, rate, options.get("seed", 0))
        result = measure(simulation, traffic, config, created=created, **options)
        start, end = np.quantile(created, (0.25, 0.75))
        birth = created[result.run.message]
        steady = result.delivery_latency[(birth >= start) & (birth <= end)]
        latencies.append((steady.mean(), *np.percentile(steady, (50, 99))))
    return rates, np.array(latencies)


def draw(path, simulation, traffic, config, result, *, title, **options):
    """Write the drawing to a file; its suffix says which format.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    simulation, traffic, config
        As for ``measure``, like ``options``.
    result : Measurement
        The run whose link loads are drawn.
    title : str
        Of the drawing.
    """
    figure = Figure(figsize=(13, 6), layout="constrained")
    figure.suptitle(f"{title}, {config.cores} cores, {config.planes} planes, "
                    f"{config.eject} ejection ports")
    curve, cube = figure.subplots(1, 2)
    rates, latencies = latency_curve(simulation, traffic, config, result.bound, **options)
    for name, values in zip(("mean", "median", "99th percentile"), latencies.T, strict=True):
        curve.plot(rates, values, marker=".", label=name)
    limit = len(traffic.source) / config.cores / result.bound.cycles
    curve.axvline(limit, linestyle=":", color="grey", label="bound")
    curve.set(xlabel="messages per core and cycle", ylabel="cycles from creation to delivery",
              yscale="log", title="latency")
    curve.legend()
    _draw_links(figure, cube, result.run.link_flits, config.dimensions)
    figure.savefig(path)


def _positions(dimensions):
    """A place in the plane for each core: every dimension is a vector of its own."""
    angles = [0.0, 0.5, 0.14, 0.36, 0.25, 0.07][:dimensions]
    lengths = [1.0, 1.0, 0.55, 0.55, 2.2, 3.0][:dimensions]
    vectors = np.array([[length * math.cos(math.pi * angle), length * math.sin(math.pi * angle)]
                        for angle, length in zip(angles, lengths, strict=True)]).reshape(-1, 2)
    return {core: sum((vectors[dimension] for dimension in range(dimensions)
                       if core >> dimension & 1), np.zeros(2)) for core in range(1 << dimensions)}


def _draw_links(figure, axes, link_flits, dimensions):
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
        scale = ScalarMappable(Normalize(0, flits.max()), "viridis")
        networkx.draw_networkx_edges(
            graph, places, ax=axes, edge_color=scale.to_rgba(flits), width=2.0, node_size=250,
            connectionstyle="arc3,rad=0.12")
        figure.colorbar(scale, ax=axes, label="flits sent along the link")
    axes.set_title(f"busiest link {link_flits.max(initial=0)}, "
                   f"mean {link_flits.mean() if link_flits.size else 0:.1f} flits")
    axes.set_axis_off()
