# SPDX-License-Identifier: BSD-2-Clause
"""The compiler's bench on a small scale: all its lines, and a graph of several strips."""

import numpy as np
import pytest

from hypercast.benches import compiler


@pytest.fixture
def small(monkeypatch):
    """A graph of three strips, and few, small batches."""
    for name, value in {"_VERTICES": 700, "_EDGES": 4_000, "_SUBGRAPH": (50, 200), "_BATCHES": 2,
                        "_NEIGHBOURS": ((40, 90, 200), (10, 40, 60)), "_BAR": 1,
                        "_HUGE": (2_000, 30_000, (5, 4, 3)),
                        "_CONFIG": compiler._CONFIG.replace(accumulator_rows=16)}.items():
        monkeypatch.setattr(compiler, name, value)


def test_figures(small):
    figures = compiler.run(None, progress=lambda text: None)
    values = {figure.name: figure.value for figure in figures}
    assert len(values) == len(figures) and all(figure.passed for figure in figures)
    edges = values["large graph: edges, both directions"]
    assert 3_000 < edges <= 4_000
    assert edges < values["large graph: edges with loops, all compiled"] <= edges + 700
    assert all(value > 0 for value in values.values())


def test_every_strip_is_compiled(small):
    matrix = compiler._neighbour_layer(600, 300, 2_000, np.random.default_rng(0))
    assert compiler._compile(matrix) == matrix.nnz
