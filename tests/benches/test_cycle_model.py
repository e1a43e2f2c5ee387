# SPDX-License-Identifier: BSD-2-Clause
"""The cycle model's bench: what it covers, and what it makes of predictions and measurements."""

import pytest

from hypercast.benches import cycle_model


@pytest.fixture
def compared(monkeypatch):
    """What is compared, if every prediction is 1 % too high but one, which is 8 % too low."""
    asked = []

    def compare(shape, order, config, progress):
        asked.append((shape, order, config))
        return (920 if len(asked) == 5 else 1010), 1000

    monkeypatch.setattr(cycle_model, "_compare", compare)
    monkeypatch.setattr(cycle_model, "order_figures", lambda *arguments: ())
    return asked


def test_figures(compared):
    *steps, count, mean = cycle_model.run(None, progress=lambda text: None)
    assert len({figure.name for figure in steps}) == len(steps) == len(set(compared))
    assert count.value == len(steps) and count.passed
    assert [number for number, figure in enumerate(steps, 1) if not figure.passed] == [5]
    assert mean.value == pytest.approx((0.01 * (len(steps) - 1) + 0.08) / len(steps))


def test_configurations_differ(compared):
    cycle_model.run(None, progress=lambda text: None)
    configs = {config for *_, config in compared}
    assert {config.lanes for config in configs} == {4, 8}
    assert min(config.cores for config in configs) == 2
    assert max(config.cores for config in configs) == 16
    assert {config.memory_stalls for config in configs} == {False, True}
