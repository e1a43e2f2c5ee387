# SPDX-License-Identifier: BSD-2-Clause
"""Bench strips: what it draws, and its verdicts."""

from types import SimpleNamespace

import numpy as np
import pytest

from hypercast import benches
from hypercast.benches import strips
from hypercast.host.compiler.vertices import strips_of
from hypercast.host.runtime.comparison import Comparison
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.rtl.config import PRESETS
from tests.system.chips import WIDE

NAME = "a chip"


def draw(seed, communities=False):
    return strips._draw(np.random.default_rng(seed), WIDE, communities)


def test_chips_have_slow_memory_and_small_buffers():
    for config in strips.CONFIGS.values():
        assert config.memory_latency == PRESETS["vcu128"].memory_latency and config.memory_stalls
        assert config.accumulator_rows <= 64 and config.operand_words <= 256
        assert config.edge_buffer * config.chunks >= config.memory_latency


def test_numbers_of_strips():
    found = [len(strips_of(draw(seed).graph.vertices, WIDE)) for seed in range(30)]
    assert set(found) == set(strips._STRIPS) and max(found) == 48
    assert any(draw(seed).graph.vertices % (16 * WIDE.cores) for seed in range(3))


def test_communities(monkeypatch):
    asked = []

    def ends(generator, vertices, edges, *, communities):
        asked.append(communities)
        return np.full((edges, 2), (0, vertices - 1))

    monkeypatch.setattr(strips, "draw_community_ends", ends)
    assert all(draw(seed, True).graph.edges.nnz <= 2 for seed in range(5))
    assert asked == [strips._COMMUNITIES] * 5
    assert all(draw(seed).graph.edges.nnz > 2 for seed in range(5)) and len(asked) == 5


@pytest.fixture
def few(monkeypatch):
    """Two small trainings on one chip."""
    monkeypatch.setattr(strips, "CONFIGS", {NAME: WIDE})
    monkeypatch.setattr(strips, "_TRAININGS", 2)
    monkeypatch.setattr(strips, "_STRIPS", (2,))
    monkeypatch.setattr(strips, "_MOST", {"features": 20, "classes": 4, "edges": 200})
    monkeypatch.setattr(strips, "_WORK", 60)


def verdicts():
    """Figures, by their names up to what is named as the worst."""
    return {figure.name.partition(",")[0]: figure for figure in benches.run(
        "strips", data=None, progress=lambda text: None, seed=2)}


def test_equal_words(few):
    found = verdicts()
    assert found[f"{NAME}: words compared"].value > 1000
    assert found[f"{NAME}: of these"].passed
    assert found["trainings drawn"].value == 2 and not found["trainings drawn"].passed
    assert found["trainings of 2 strips"].value == 2
    assert not found["models among them"].passed
    error, share = (found[f"{NAME}: {which}"].value for which in (
        "largest error of the cycle model", "least share of the bound"))
    assert 0 < error < 0.5 and 0.1 < share < 1


def test_a_difference_and_a_wrong_prediction_are_missed(few, monkeypatch):
    real = strips.compare_training

    def spoiled(*arguments):
        words, *others = real(*arguments)
        words.add(Comparison(0, 1, "W1[0, 0] is 1"))
        return words, *others

    monkeypatch.setattr(strips, "compare_training", spoiled)
    monkeypatch.setattr(strips, "predict", lambda workload: SimpleNamespace(cycles=0))
    found = verdicts()
    unequal, error = (found[f"{NAME}: {which}"] for which in (
        "of these", "largest error of the cycle model"))
    assert unequal.value == 2 and not unequal.passed and "W1[0, 0] is 1" in unequal.name
    assert error.value == 1 and not error.passed


def test_a_stall_is_missed(few, monkeypatch):
    def stall(*arguments):
        raise DeviceError("nothing moved")

    monkeypatch.setattr(strips, "compare_training", stall)
    stopped = verdicts()[f"{NAME}: trainings that the chip did not end"]
    assert stopped.value == 2 and not stopped.passed


@pytest.mark.parametrize(("errors", "shares", "missed"), [
    ([0.05, -0.05, 0.01], [0.8, 0.95], []),
    ([0.01, -0.051], [0.8, 0.95], ["largest error of the cycle model"]),
    ([0.051, 0.0], [0.8, 0.95], ["largest error of the cycle model"]),
    ([0.0, 0.0], [0.95, 0.799], ["least share of the bound"]),
])
def test_one_training_that_is_off_is_enough(errors, shares, missed):
    found = strips._Found(
        words=Comparison(5, 5), errors=[strips._Measured(one, "gcn") for one in errors],
        shares=[strips._Measured(one, "gcn") for one in shares])
    figures = strips._figures(NAME, found)
    assert [figure.name.removeprefix(f"{NAME}: ").partition(",")[0] for figure in figures
            if not figure.passed] == missed
    mean = {figure.name: figure.value for figure in figures}[f"{NAME}: the mean of its errors"]
    assert mean == pytest.approx(np.abs(errors).mean())
