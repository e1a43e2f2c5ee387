# SPDX-License-Identifier: BSD-2-Clause
"""Draws latency over load, beside the hypercube with the loads of its links."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from hypercast.host.compiler.network_loads import Bound
from hypercast.host.files.picture import drawn_text
from hypercast.host.noc.cube import draw_links
from hypercast.host.noc.measurement import Measurement, measure
from hypercast.host.noc.patterns import Traffic, creation_cycles
from hypercast.rtl.config import Config
from hypercast.sim.network_simulation import NetworkSimulation

__all__ = ["draw", "latency_curve"]

#: Injection rates of the curve, relative to the rate at which the bound is reached.
_LOADS = (0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)


def latency_curve(simulation: NetworkSimulation, traffic: Traffic, config: Config, bound: Bound,
                  **options: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Latencies in an open loop, at a number of rates.

    Parameters
    ----------
    simulation, traffic, config
        As for ``measure``, like ``options``.
    bound : Bound
        Bound of the traffic.

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


def draw(simulation: NetworkSimulation, traffic: Traffic, config: Config,
         result: Measurement, *, title: str, **options: Any) -> Figure:
    """The drawing.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    simulation, traffic, config
        As for ``measure``, like ``options``.
    result : Measurement
        The run whose link loads are drawn.
    title : str
        Title of the drawing.
    """
    figure = Figure(figsize=(13, 6), layout="constrained")
    figure.suptitle(f"{drawn_text(title)}, {config.cores} cores, {config.planes} planes, "
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
    draw_links(figure, cube, result.run.link_flits, config.dimensions)
    return figure
