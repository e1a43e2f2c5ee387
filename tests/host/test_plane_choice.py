"""Planes of messages: valid, repeatable, and shared out."""

import numpy as np
import pytest

from hypercast.host.noc.patterns import pattern_traffic
from hypercast.host.plane_choice import choose_planes
from hypercast.rtl.config import Config


@pytest.mark.parametrize("planes", [1, 2, 4])
@pytest.mark.parametrize("name", ["unicast", "random4", "broadcast"])
def test_every_core_uses_all_planes_alike(name, planes):
    config = Config(dimensions=4, planes=planes)
    source, mask = pattern_traffic(name, 4, 40)
    chosen = choose_planes(source, mask, config)
    assert np.array_equal(chosen, choose_planes(source, mask, config))
    for core in range(16):
        assert np.bincount(chosen[source == core]).tolist() == [40 // planes] * planes


def test_messages_without_destinations_take_no_turn():
    config = Config(dimensions=1, planes=2)
    source, mask = np.array([0, 0, 0, 1, 0]), np.array([1, 0, 2, 1, 3], dtype=np.uint64)
    assert choose_planes(source, mask, config)[mask != 0].tolist() == [0, 1, 1, 0]
