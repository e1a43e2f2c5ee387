# SPDX-License-Identifier: BSD-2-Clause
"""The roofline's bench: what it covers, and the verdicts on made-up measurements."""

from types import SimpleNamespace

import numpy as np
import pytest

from hypercast.benches import roofline
from hypercast.host.runtime.utilisation import Utilisation

#: Cycles of the synthetic graph on one core, and of Cora.
CYCLES, CORA = 1_600_000, 14_000


@pytest.fixture
def figures(monkeypatch):
    """Figures of perfect scaling in RTL, and a cycle model that loses 1 % with each dimension."""
    asked = []

    def step(graph, widths, config, progress):
        cycles = CYCLES // config.cores if graph == "graph" else CORA
        return SimpleNamespace(
            cycles=cycles, busiest=Utilisation(name="array", work=0.85, limits={}),
            words_while_busy=lambda: 0.96, exposed_share=lambda engine: 0.01)

    def predicted(graph, widths, config):
        asked.append(config)
        return CYCLES / 16 * (1 + config.dimensions / 100)

    monkeypatch.setattr(roofline, "measure", step)
    monkeypatch.setattr(roofline, "predict_cycles", predicted)
    monkeypatch.setattr(roofline, "synthetic_graph", lambda *shape: "graph")
    monkeypatch.setattr(roofline.Graph, "load", lambda path: "cora")
    return asked, roofline.run("folder", progress=lambda text: None)


def named(figures, part):
    return [figure for figure in figures if part in figure.name]


def test_verdicts(figures):
    _, found = figures
    assert len({figure.name for figure in found}) == len(found)
    assert all(figure.passed for figure in found)
    efficiencies = named(found, "efficiency, limited by array")
    assert [figure.bar for figure in efficiencies] == [0.80] * 3 + [0.85] + [0.60] * 3


def test_strong_scaling(figures):
    speed_ups = named(figures[1], "speed-up")
    assert [figure.value for figure in speed_ups] == [1, 2, 4, 8, 16]
    assert [figure.bar for figure in speed_ups] == [None] * 4 + [14.0]


def test_weak_scaling(figures):
    """From 1 to 64 of the same cores; the one that RTL has is compared with it."""
    configs, found = figures
    assert [config.cores for config in configs] == [1, 2, 4, 8, 16, 32, 64]
    assert len({config.replace(dimensions=0) for config in configs}) == 1
    names = [figure.name for figure in named(found, "against one core")]
    assert names[0].startswith("weak scaling, 1000 vertices on 1 cores")
    assert names[-1].startswith("weak scaling, 64000 vertices on 64 cores")
    np.testing.assert_allclose([figure.value for figure in named(found, "against one core")],
                               [1 / (1 + d / 100) for d in range(7)])
    error, = named(found, "error against the simulated chip")
    assert error.value == pytest.approx(0.04) and error.bar == 0.05
