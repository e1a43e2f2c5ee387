# SPDX-License-Identifier: BSD-2-Clause
"""Measurements: latencies and efficiency of runs that can be worked out by hand."""

import numpy as np
import pytest

from hypercast.host.noc.measurement import measure, percentiles
from hypercast.host.noc.patterns import Traffic, creation_cycles, pattern_traffic
from hypercast.rtl.config import Config
from hypercast.sim.faults import Fault, FaultKind
from hypercast.sim.network_scoreboard import NetworkError
from hypercast.sim.network_simulation import NetworkSimulation, narrow

CONFIG = narrow(Config(dimensions=2, planes=2, buffer_depth=2))


@pytest.fixture(scope="module")
def network():
    return NetworkSimulation(CONFIG)


def test_two_messages(network):
    """One to itself and over one hop; one over two hops, created five cycles later."""
    traffic = Traffic(np.array([0, 2]), np.array([0b0011, 0b1000], dtype=np.uint64))
    result = measure(network, traffic, CONFIG, created=np.array([0, 5]))
    assert result.delivery_latency.tolist() == [3, 6, 9]
    assert result.message_latency.tolist() == [6, 9]
    assert result.run.cycles == 15
    assert result.bound.cycles == 2 and result.efficiency == pytest.approx(2 / 15)
    assert result.link_utilisation.sum() == pytest.approx(3 / 15)


def test_latency_counts_from_creation(network):
    traffic = pattern_traffic("unicast", 2, 200)
    slow, fast = (measure(network, traffic, CONFIG,
                          created=creation_cycles(traffic.source, rate, 1)) for rate in (0.1, 1))
    assert slow.message_latency.min() == fast.message_latency.min() == 6
    assert slow.message_latency.mean() < 10 < 20 < fast.message_latency.mean()


def test_an_inexact_run_is_an_error(network):
    with pytest.raises(NetworkError, match="core 3 lacks message 4 from core 0"):
        measure(network, pattern_traffic("complement", 2, 10), CONFIG, faults=[
            Fault(cycle=0, core=0, dimension=1, kind=FaultKind.DROP)])


def test_percentiles():
    assert percentiles(np.arange(1, 1001)) == [500, 900, 990, 1000]
    assert percentiles([7]) == [7] * 4
    assert percentiles([]) == [0] * 4
