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


@pytest.mark.parametrize("core", [0, 62, 63])
@pytest.mark.parametrize("source", [0, 1, 63])
def test_cores_of_the_largest_cube(core, source):
    """Two messages in each of four planes, from one core to one: in order in each plane."""
    planes = np.repeat(np.arange(4), 2)
    sent = [source] * 8, [1 << (core ^ source)] * 8, planes
    order = [6, 0, 2, 4, 5, 1, 7, 3]
    run = replace(run_of([(message, core) for message in order]), injected=np.arange(8))
    check_deliveries(*sent, run)
    swapped = replace(run, message=np.array([6, 0, 2, 5, 4, 1, 7, 3]))
    with pytest.raises(NetworkError, match=(
            f"core {core} got message 5 from core {source} in plane 2, injected in cycle 5, before "
            f"message 4 from core {source} in plane 2")):
        check_deliveries(*sent, swapped)


def test_messages_of_other_cores_and_planes_overtake():
    """To one core from two neighbours of it in numbers, and in planes next to each other."""
    sent = [3, 2, 3, 2], [1 << (5 ^ 3), 1 << (5 ^ 2)] * 2, [0, 3, 3, 0]
    for order in ([3, 2, 1, 0], [2, 3, 0, 1]):
        check_deliveries(*sent, replace(run_of([(message, 5) for message in order]),
                                        injected=np.arange(4)))
