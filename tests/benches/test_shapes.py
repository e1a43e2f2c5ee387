# SPDX-License-Identifier: BSD-2-Clause
"""Bench shapes: what it draws, and its verdicts."""

import numpy as np
import pytest

from hypercast import benches
from hypercast.benches import random_trainings, shapes
from hypercast.host.runtime.comparison import Comparison
from hypercast.host.runtime.device_errors import DeviceError
from tests.system.chips import WIDE


def draw(seed, config=WIDE, **most):
    return random_trainings.draw_training(np.random.default_rng(seed), config, **most)


def test_draws_repeat():
    one, same, other = (draw(seed, vertices=50, features=50) for seed in (1, 1, 2))
    assert str(one) == str(same) != str(other)
    assert np.array_equal(one.graph.edges.indices, same.graph.edges.indices)
    assert one.recipe == same.recipe


def test_sizes_are_within_bounds():
    for seed in range(40):
        training = draw(seed, vertices=30, features=70, classes=9, work=3000)
        assert 1 <= training.graph.vertices <= 30
        assert 1 <= training.network.features <= 70
        assert 2 <= training.network.classes <= 9


def test_configurations_cover_what_there_is():
    configs = [random_trainings.draw_config(np.random.default_rng(seed)) for seed in range(200)]
    assert {config.lanes for config in configs} == {2, 4, 8, 16}
    assert {config.planes for config in configs} == {1, 2, 4}
    assert {config.eject for config in configs} == {1, 2, 4}
    assert {config.dimensions for config in configs} == {0, 1, 2, 3, 4}
    assert {config.adam for config in configs} == {True, False}
    assert len({config.strip_rows // config.accumulator_rows for config in configs}) > 2


@pytest.fixture
def few(monkeypatch):
    """A configuration, two trainings on it."""
    monkeypatch.setattr(shapes, "_CONFIGS", 1)
    monkeypatch.setattr(shapes, "_TRAININGS", 2)
    monkeypatch.setattr(shapes, "draw_config", lambda generator: WIDE)
    def draw(generator, config, vertices):
        assert vertices == min(2000, 32 * config.cores * config.accumulator_rows)
        return random_trainings.draw_training(generator, config, vertices=20, features=20,
                                              classes=4, work=500)

    monkeypatch.setattr(shapes, "draw_training", draw)


def verdicts():
    figures = benches.run("shapes", data=None, progress=lambda text: None, seed=3)
    return {figure.name.partition(";")[0]: figure for figure in figures}


def test_equal_words(few):
    figures = verdicts()
    assert figures["words compared"].value > 0
    assert figures["of these, equal to the reference"].passed
    assert figures["trainings drawn"].value == 2 and not figures["trainings drawn"].passed


def test_a_difference_is_missed(few, monkeypatch):
    monkeypatch.setattr(shapes, "compare_training",
                        lambda *arguments: (Comparison(9, 10, "W1[0, 0] is 1"), {}, 1))
    figures = benches.run("shapes", data=None, progress=lambda text: None)
    assert figures[-1].value == 18 and not figures[-1].passed
    assert "W1[0, 0] is 1" in figures[-1].name


def test_a_stall_is_missed(few, monkeypatch):
    def stall(*arguments):
        raise DeviceError("nothing moved")

    monkeypatch.setattr(shapes, "compare_training", stall)
    figure = verdicts()["trainings that the chip did not end"]
    assert figure.value == 2 and not figure.passed
