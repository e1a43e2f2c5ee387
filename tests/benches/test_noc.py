# SPDX-License-Identifier: BSD-2-Clause
"""The network bench on a small scale: all its lines, the same on every run."""

import numpy as np
import pytest

from hypercast.benches import noc
from hypercast.host.noc.patterns import pattern_traffic


@pytest.fixture
def small(monkeypatch):
    """Four cores, a single size of network, and few messages."""
    for name, value in {"_DIMENSIONS": 2, "_PLANES": 2, "_MESSAGES": 20, "_SCALED_MESSAGES": 5,
                        "_BACKLOG": 50, "_BATCH_SEEDS": 3, "_RANDOM": ("unicast", "random2"),
                        "_BARS": {1: 0.1}, "_LARGEST": 2}.items():
        monkeypatch.setattr(noc, name, value)
    monkeypatch.setattr(noc, "_BALANCED", {"broadcast": 2.0, "random2": 2.0})


def test_figures(small):
    first, second = (noc.run(None, progress=lambda text: None) for _ in range(2))
    assert [figure.to_dict() for figure in first] == [figure.to_dict() for figure in second]
    values = {figure.name: figure.value for figure in first}
    assert len(values) == len(first)
    for name, value in values.items():
        if "efficiency" in name or "slowest" in name:
            assert 0 < value <= 1, name
    assert values["busiest link over mean link load: broadcast"] >= 1
    assert values["random2 as unicasts over multicast: link-hops"] > 1
    assert not any("--data" in figure.name and figure.bar for figure in first)


def test_unicasts_deliver_what_the_multicast_does():
    traffic = pattern_traffic("random4", 4, 10)
    unicasts = noc._as_unicasts(traffic)
    assert np.bitwise_count(unicasts.destinations).tolist() == [1] * 640
    for core in range(16):
        parts = unicasts.destinations[unicasts.source == core].reshape(10, 4)
        assert np.array_equal(np.bitwise_or.reduce(parts, axis=1),
                              traffic.destinations[traffic.source == core])
