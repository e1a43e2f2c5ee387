# SPDX-License-Identifier: BSD-2-Clause
"""The compiled network: exact deliveries, latencies, faults and watchdogs."""

import numpy as np
import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.network import routing
from hypercast.sim.faults import Fault, FaultKind
from hypercast.sim.network_scoreboard import NetworkError, check_deliveries
from hypercast.sim.network_simulation import (
    Ending,
    NetworkSimulation,
    Watchdogs,
    narrow,
)

CONFIG = narrow(Config(dimensions=2, planes=2, buffer_depth=2))


@pytest.fixture(scope="module")
def network():
    return NetworkSimulation(CONFIG)


def random_messages(config, count, seed):
    """Sources, destinations (some none) and planes."""
    generator = np.random.default_rng(seed)
    return (generator.integers(0, config.cores, count),
            generator.integers(0, (1 << config.cores) - 1, count, dtype=np.uint64, endpoint=True),
            generator.integers(0, config.planes, count))


def test_all_is_delivered_over_the_links_of_the_trees(network):
    messages = random_messages(CONFIG, 1_000, 1)
    run = network.run(*messages)
    check_deliveries(*messages, run)
    expected = np.zeros((CONFIG.cores, CONFIG.dimensions), dtype=int)
    for source, destinations, plane in zip(*messages, strict=True):
        for link in routing.tree(int(destinations), int(plane), CONFIG.dimensions, int(source)):
            expected[link] += 1
    assert np.array_equal(run.link_flits, expected)
    assert not run.faults.any()


def test_runs_are_repeatable(network):
    messages = random_messages(CONFIG, 300, 2)
    first, second, other = (network.run(*messages, ready=0.4, seed=seed) for seed in (5, 5, 6))
    assert np.array_equal(first.cycle, second.cycle)
    assert not np.array_equal(first.cycle, other.cycle)


def test_latency_is_three_cycles_and_three_per_hop(network):
    run = network.run([0, 3, 2], [1 << 0, 1 << 1, 1 << 3], [0, 0, 1], created=[0, 40, 80])
    assert run.injected.tolist() == [0, 40, 80]
    assert run.core.tolist() == [0, 2, 1]
    assert (run.cycle - run.injected).tolist() == [3, 6, 9]
    assert run.cycles == 90


def test_a_source_injects_once_per_cycle_and_queues(network):
    run = network.run([1] * 8, [1] * 8, [0, 1] * 4, created=[0] * 5 + [20] * 3)
    assert run.injected.tolist() == [0, 1, 2, 3, 4, 20, 21, 22]
    assert run.peak_queue == 5


def test_no_messages(network):
    run = network.run([], [], [])
    assert run.ending == Ending.DONE and run.message.size == 0


def test_stalls_slow_the_network_down(network):
    messages = random_messages(CONFIG, 500, 3)
    fast, slow = (network.run(*messages, ready=ready) for ready in (1.0, 0.25))
    check_deliveries(*messages, slow)
    assert slow.cycles > 2 * fast.cycles


def reported(run):
    """Links (receiving core, dimension) of which a fault was reported."""
    return [tuple(link) for link in np.argwhere(run.faults).tolist()]


@pytest.mark.parametrize("kind", [FaultKind.DROP, FaultKind.FLIP])
def test_what_a_fault_takes_away_is_missed_and_reported(network, kind):
    """Flipping bit 0 of the destinations of a unicast leaves no destination."""
    messages = [0], [1 << 1], [0]
    fault = Fault(cycle=0, core=0, dimension=0, kind=kind, bit=0)
    run = network.run(*messages, faults=[fault], watchdogs=Watchdogs(idle=50))
    assert run.ending == Ending.IDLE and run.cycles < 100
    assert reported(run) == [(1, 0)]
    with pytest.raises(NetworkError, match="1 of 1 deliveries are missing; core 1 lacks message 0 "
                                           "from core 0 in plane 0, injected in cycle 0"):
        check_deliveries(*messages, run)


def test_a_changed_flit_is_noticed_and_reported(network):
    field = flit(CONFIG)["payload"]
    fault = Fault(cycle=9, core=2, dimension=0, kind=FaultKind.FLIP, bit=field.offset)
    messages = [2, 2], [1 << 1, 1 << 1], [0, 0]
    run = network.run(*messages, created=[0, 10], faults=[fault], watchdogs=Watchdogs(idle=50))
    assert run.message.tolist()[0] == 0 and reported(run) == [(3, 0)]
    with pytest.raises(NetworkError):
        check_deliveries(*messages, run)


def test_a_stuck_bit_stays(network):
    """Without bit 0 of the destinations neither of two unicasts has a destination any more."""
    fault = Fault(cycle=0, core=0, dimension=0, kind=FaultKind.STUCK_AT_0, bit=0)
    run = network.run([0, 0], [1 << 1, 1 << 1], [0, 1], faults=[fault],
                      watchdogs=Watchdogs(idle=50))
    assert run.ending == Ending.IDLE and run.message.size == 0
    assert reported(run) == [(1, 0)] and run.faults.sum() >= 2


def test_lost_credits_hold_flits(network):
    """As many flits go along as there is room for, and then none; no router notices."""
    messages = [0] * 9, [1 << 1] * 9, [0] * 9
    fault = Fault(cycle=0, core=0, dimension=0, kind=FaultKind.HOLD)
    run = network.run(*messages, faults=[fault], watchdogs=Watchdogs(idle=50))
    assert run.ending == Ending.IDLE and run.message.tolist() == [0, 1]
    assert not run.faults.any()


def test_watchdog_age(network):
    """The first message is lost while others keep moving."""
    messages = [0] * 200, [1 << 1] * 200, [0] * 200
    fault = Fault(cycle=0, core=0, dimension=0, kind=FaultKind.DROP)
    run = network.run(*messages, faults=[fault], watchdogs=Watchdogs(age=60))
    assert run.ending == Ending.AGE and run.cycles == 62
    with pytest.raises(NetworkError, match="watchdog AGE"):
        check_deliveries(*messages, run)


def test_watchdog_total(network):
    run = network.run([0] * 200, [1 << 1] * 200, [0] * 200, watchdogs=Watchdogs(total=100))
    assert run.ending == Ending.TOTAL and run.cycles == 100


@pytest.mark.parametrize(("arguments", "message"), [
    ({"source": [4]}, "source must be at least 0 and below 4, not 4"),
    ({"source": [-1]}, "source must be at least 0 and below 4, not -1"),
    ({"destinations": [16]}, "destinations must be at least 0 and below 16, not 16"),
    ({"plane": [2]}, "plane must be at least 0 and below 2, not 2"),
    ({"plane": [0, 1]}, "plane has shape .2,., but there are 1 messages"),
    ({"ready": 0}, "ready must be above 0 and at most 1, not 0"),
    ({"source": [1, 1], "destinations": [1, 1], "plane": [0, 0], "created": [1, 0]},
     "created must be in order for each source"),
    ({"faults": [Fault(cycle=0, core=0, dimension=2, kind=FaultKind.DROP)]},
     "no link of core 0 along dimension 2 in a network of 2 dimensions"),
    ({"faults": [Fault(cycle=0, core=0, dimension=1, kind=FaultKind.FLIP, bit=99)]},
     r"bit must be 0 to \d+, not 99"),
])
def test_impossible_runs(network, arguments, message):
    with pytest.raises(ValueError, match=message):
        network.run(**{"source": [0], "destinations": [1], "plane": [0], **arguments})


def test_more_messages_than_can_be_told_apart(network):
    count = (1 << 20) + 1
    with pytest.raises(ValueError, match="raise element_width or lanes"):
        network.run(*np.zeros((3, count), dtype=int))
