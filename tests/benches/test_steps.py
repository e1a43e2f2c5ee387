# SPDX-License-Identifier: BSD-2-Clause
"""Chips of other sizes are valid; utilisation and overlap of recordings made by hand."""

import numpy as np
import pytest

from hypercast.benches.steps import Step, chip, synthetic_graph
from hypercast.host.runtime.timeline import CountedPhase, Profile, Slices
from hypercast.host.runtime.utilisation import Utilisation
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Engine

ARRAY, VECTOR, REDUCTION = Engine.ARRAY, Engine.VECTOR, Engine.REDUCTION


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("dimensions", [0, 2, 4])
def test_chips_hold_the_same_work(lanes, dimensions):
    preset = PRESETS["vcu128"]
    config = chip(preset, lanes, dimensions=dimensions)
    assert (config.lanes, config.dimensions) == (lanes, dimensions)
    assert config.weight_rows * lanes >= preset.weight_rows * preset.lanes
    bits = config.cores * config.channel_words * config.word_width
    assert bits >= preset.cores * preset.channel_words * preset.word_width


def step(cycles, slices, words=(0,)):
    """A step with (core, engine, start, end) of slices, and words that the array took."""
    columns = [np.array(column) for column in zip(*slices, strict=True)]
    profile = Profile(
        cycles=cycles, instructions=[], slices=Slices(*columns, np.zeros(len(slices), dtype=int)),
        phases=[CountedPhase(name="forward 1", cycles=cycles,
                             counters={"array_words": list(words)})])
    return Step(cycles, profile, [Utilisation(name=name, work=work, limits={})
                                  for name, work in (("array", 0.4), ("vector unit", 0.7))])


def test_words_while_busy():
    """40 + 20 cycles of two cores have an instruction, and 45 words pass."""
    found = step(100, [(0, ARRAY, 10, 50), (1, ARRAY, 10, 30), (1, VECTOR, 0, 100)], (30, 15))
    assert found.words_while_busy() == 45 / 60
    assert found.busiest.name == "vector unit"


@pytest.mark.parametrize(("others", "exposed"), [
    ([(0, ARRAY, 0, 40)], 20),  # cycles 40 .. 59
    ([(0, ARRAY, 0, 40), (1, VECTOR, 50, 100)], 10),
    ([(0, ARRAY, 0, 100)], 0),
])
def test_exposed(others, exposed):
    """Two cores reduce from cycle 30 to 60; some of it while another engine is busy."""
    own = [(0, REDUCTION, 30, 55), (1, REDUCTION, 40, 60)]
    assert step(98, own + others).exposed_share(REDUCTION) == pytest.approx(exposed / 100)


def test_synthetic_graph():
    graph = synthetic_graph(200, 1000, 5, 3)
    assert graph.vertices == 200 and graph.features.shape == (200, 5) and graph.classes == 3
    degrees = np.diff(graph.edges.indptr)
    assert degrees[:20].mean() > 2 * degrees[100:].mean()
