# SPDX-License-Identifier: BSD-2-Clause
"""Fractions of capacity, and what took the rest."""

import pytest

from hypercast.host.runtime.utilisation import utilisation
from hypercast.rtl.config import Config
from hypercast.rtl.registers import COUNTERS

CONFIG = Config(dimensions=1, planes=2, eject=2)


def rows(config=CONFIG, **counts):
    """Utilisation of 100 cycles; other counters are zero."""
    counters = {name: [0] * config.cores for name in COUNTERS} | counts
    return {row.name: row for row in utilisation(counters, 100, config)}


def test_work_is_averaged_over_the_cores():
    array = rows(array_words=[80, 40], array_starved=[10, 20], array_blocked=[0, 10])["array"]
    assert array.work == pytest.approx(0.6)
    assert array.limits == pytest.approx({"starved": 0.15, "blocked": 0.05, "idle": 0.2})
    assert array.limit == "idle 20%"


def test_one_core_of_several():
    counters = {name: [0] for name in COUNTERS} | {
        "array_words": [80], "features_read": [30], "features_written": [10]}
    found = {row.name: row.work for row in utilisation(counters, 100, CONFIG)}
    assert found["array"] == pytest.approx(0.8)
    assert found["memory channel 0"] == pytest.approx(0.4)


def test_capacity_of_lanes_and_links():
    found = rows(edges=[200, 100], link_0=[50, 100])
    assert found["aggregators"].work == pytest.approx(0.75)
    assert found["links"].work == pytest.approx(0.75)
    assert rows(features_read=[30, 30], features_written=[20, 0])["memory channel 0"].work == \
        pytest.approx(0.4)


def test_limit_is_the_largest_loss():
    vector = rows(vector_words=[10, 10], vector_blocked=[70, 80])["vector unit"]
    assert vector.limit == "blocked 75%"


def test_one_core_has_no_links():
    config = Config(dimensions=0)
    assert "links" not in rows(config)
    assert rows(config)["array"].limit == "idle 100%"


def test_every_cycle_of_an_engine_is_accounted_for():
    for row in rows(sent=[5, 15], send_blocked=[20, 20]).values():
        assert row.work + sum(row.limits.values()) == pytest.approx(1.0)
