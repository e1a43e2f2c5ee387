# SPDX-License-Identifier: BSD-2-Clause
"""Runs traffic through the simulated network and sums up what it took."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.host.compiler.network_loads import Bound, bound_traffic
from hypercast.host.compiler.plane_choice import choose_planes
from hypercast.host.noc.patterns import Traffic
from hypercast.rtl.config import Config
from hypercast.sim.network_scoreboard import check_deliveries
from hypercast.sim.network_simulation import NetworkRun, NetworkSimulation

__all__ = ["PERCENTILES", "Measurement", "measure", "percentiles"]

#: Of latencies; 100 is the maximum.
PERCENTILES = (50, 90, 99, 100)


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement:
    """A run, checked, beside its bound.

    Attributes
    ----------
    run : NetworkRun
        What happened.
    bound : Bound
        The fewest cycles possible.
    delivery_latency : (deliveries,) numpy.ndarray of int64
        Cycles from a message's creation to each of its deliveries, in order of delivery.
    message_latency : (M,) numpy.ndarray of int64
        Cycles from a message's creation to its last delivery; -1 for one without destinations.
    """

    run: NetworkRun
    bound: Bound
    delivery_latency: npt.NDArray[np.int64]
    message_latency: npt.NDArray[np.int64]

    @property
    def efficiency(self) -> float:
        """Bound over cycles."""
        return self.bound.cycles / self.run.cycles

    @property
    def link_utilisation(self) -> npt.NDArray[np.float64]:
        """Fraction of the cycles in which each link carried a flit: (cores, dimensions)."""
        return self.run.link_flits / self.run.cycles


def measure(simulation: NetworkSimulation, traffic: Traffic, config: Config, *,
            created: npt.NDArray[np.int64] | None = None, **options: Any) -> Measurement:
    """Send traffic, in the planes the compiler chooses, and check every delivery.

    Parameters
    ----------
    simulation : NetworkSimulation
        The network.
    traffic : Traffic
        What is sent.
    config : Config
        The network's configuration.
    created : (M,) array of int, optional
        As for ``NetworkSimulation.run``, like ``options``.

    Raises
    ------
    NetworkError
        If a delivery is missing, wrong or out of order, or a watchdog barks.
    """
    source, destinations = traffic
    planes = choose_planes(source, destinations, config)
    run = simulation.run(source, destinations, planes, created=created, **options)
    check_deliveries(source, destinations, planes, run)
    created = np.zeros(len(planes), dtype=np.int64) if created is None else created
    delivery_latency = run.cycle - created[run.message]
    message_latency = np.full(len(planes), -1)
    np.maximum.at(message_latency, run.message, delivery_latency)
    return Measurement(run=run, bound=bound_traffic(source, destinations, planes, config),
                       delivery_latency=delivery_latency, message_latency=message_latency)


def percentiles(latencies: npt.NDArray[np.integer[Any]]) -> list[int]:
    """The ``PERCENTILES`` of latencies, as they occur; zeros if there is none."""
    if not len(latencies):
        return [0] * len(PERCENTILES)
    return [int(value) for value in np.percentile(latencies, PERCENTILES, method="inverted_cdf")]
