# SPDX-License-Identifier: BSD-2-Clause
"""The scoreboard notices whatever can go wrong, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from hypercast.sim.network_scoreboard import NetworkError, check_deliveries
from hypercast.sim.network_simulation import Ending, NetworkRun

#: Core 1 sends to cores 0 and 1, then to core 0 twice, in planes 0, 0 and 1.
MESSAGES = [1, 1, 1], [0b11, 0b10, 0b10], [0, 0, 1]


def run_of(deliveries, ending=Ending.DONE):
    """A run with (message, core) deliveries, one per cycle."""
    message, core = np.array(deliveries, dtype=np.int64).reshape(-1, 2).T
    return NetworkRun(ending=ending, cycles=len(deliveries), injected=np.arange(3),
                      message=message, core=core, port=np.zeros_like(core),
                      cycle=np.arange(len(deliveries)), link_flits=np.zeros((2, 1)),
                      faults=np.zeros((2, 1)), peak_queue=1)


@pytest.mark.parametrize("deliveries", [
    [(0, 1), (0, 0), (1, 0), (2, 0)], [(2, 0), (0, 0), (1, 0), (0, 1)]])
def test_complete_and_in_order_within_a_plane(deliveries):
    check_deliveries(*MESSAGES, run_of(deliveries))


@pytest.mark.parametrize(("deliveries", "message"), [
    ([(0, 1), (0, 0), (1, 0)], "1 of 4 deliveries are missing; core 0 lacks message 2"),
    ([(0, 1), (0, 0), (1, 0), (2, 0), (1, 0)], "core 0 got message 1 .* more than once"),
    ([(0, 1), (0, 0), (1, 0), (2, 0), (2, 1)], "core 1 got message 2 .* it is no destination"),
    ([(0, 1), (0, 0), (-1, 0), (2, 0)], "core 0 got a flit in cycle 2 that nobody sent so"),
    ([(1, 0), (0, 1), (0, 0), (2, 0)], "core 0 got message 1 .* before message 0"),
])
def test_errors(deliveries, message):
    with pytest.raises(NetworkError, match=message):
        check_deliveries(*MESSAGES, run_of(deliveries))


def test_a_watchdog_is_an_error_even_if_all_arrived():
    run = replace(run_of([(0, 1), (0, 0), (1, 0), (2, 0)]), ending=Ending.TOTAL)
    with pytest.raises(NetworkError, match="watchdog TOTAL ended the run in cycle 4"):
        check_deliveries(*MESSAGES, run)
