# SPDX-License-Identifier: BSD-2-Clause
"""Batches on the chip: what the bench runs and compares, on a smaller graph and chip."""

import pytest

from hypercast.benches import batches
from hypercast.host.description.sampling import Sampling


@pytest.fixture
def figures(monkeypatch):
    """The figures of a small graph, by the ends of their names."""
    for name, value in (("_VERTICES", 300), ("_EDGES", 1500), ("WIDTHS", (10, 6, 8)),
                        ("_STEPS", 4), ("SAMPLERS", {
                            "neighbours": Sampling(sampler="neighbours", batch=40, fan_outs=(3,))}),
                        ("CONFIG", batches.CONFIG.replace(
                            dimensions=2, accumulator_rows=128, weight_rows=256,
                            channel_words=8192, operand_words=1024, bypass_rows=128,
                            memory_latency=20, read_buffer=32))):
        monkeypatch.setattr(batches, name, value)
    found = batches.run(None, lambda text: None)
    assert len({figure.name for figure in found}) == len(found) == 6 * len(batches._ORDERS)
    return found


def test_figures(figures):
    for words, error, worst, waiting, brought, before in zip(
            *[iter(figures)] * 6, strict=True):
        assert words.passed and words.value == words.bar > 0
        assert (error.bar, waiting.bar) == (0.05, 0.05)
        assert 0 <= error.value <= worst.value < 0.3
        assert 0 < waiting.value < 1
        assert brought.value < before.value
