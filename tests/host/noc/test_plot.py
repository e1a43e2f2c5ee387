# SPDX-License-Identifier: BSD-2-Clause
"""Drawings: the curve behind one, and files of every size of network."""

from pathlib import Path

import numpy as np
import pytest

from hypercast.host.files.picture import picture
from hypercast.host.noc.measurement import measure
from hypercast.host.noc.patterns import pattern_traffic
from hypercast.host.noc.plot import draw, latency_curve
from hypercast.rtl.config import Config
from hypercast.sim.network_simulation import NetworkSimulation, narrow


def network(dimensions):
    config = narrow(Config(dimensions=dimensions, planes=2, buffer_depth=2))
    return NetworkSimulation(config), config


def test_latency_grows_with_the_load():
    simulation, config = network(2)
    traffic = pattern_traffic("unicast", 2, 300)
    result = measure(simulation, traffic, config)
    rates, latencies = latency_curve(simulation, traffic, config, result.bound)
    assert np.all(np.diff(rates) > 0) and latencies.shape == (len(rates), 3)
    assert 6 <= latencies[0, 0] < 9 and latencies[-1, 0] > 1.5 * latencies[0, 0]
    assert np.all(latencies[:, 1] <= latencies[:, 2])


@pytest.mark.parametrize("dimensions", [1, 2])
def test_a_file_is_drawn(dimensions):
    simulation, config = network(dimensions)
    traffic = pattern_traffic("unicast", dimensions, 30)
    result = measure(simulation, traffic, config)
    figure = draw(simulation, traffic, config, result, title=r"$\frac$")
    assert picture(figure, Path("network.png")).startswith(b"\x89PNG")
