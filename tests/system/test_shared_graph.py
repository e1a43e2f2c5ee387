# SPDX-License-Identifier: BSD-2-Clause
"""A graph that a chip shares with a reference, on chips of all kinds: the bits of one reference."""

from dataclasses import replace

import numpy as np
import pytest

from hypercast.host.cluster.division import Division
from hypercast.host.compiler.pieces import compile_pieces
from hypercast.host.runtime.chip_device import ChipDevice
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.schemes.graph_in_parallel import GraphInParallel
from hypercast.host.schemes.graph_parts import parts_of
from hypercast.host.schemes.worker import Worker
from hypercast.reference.stale_rows import SMOOTHING_ONE, StaleParts
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.host.processes.thread_group import on_ranks
from tests.system.chips import CHIPS, NARROW, WIDE, GraphTraining, random_graph

STEPS = 3


def check(config, optimiser="sgd", transport=None, vertices=75, smoothing=None):
    """Train on random halves of a graph; the chip has one, and there is dropout on every layer.

    The chip is a compiled simulation, unless there is another ``transport``. Halos are stale with
    a ``smoothing``.
    """
    training = GraphTraining(
        graph=random_graph(vertices, 3 * vertices, features=11), config=config, hidden=(9, 5),
        dropout=0.4, recipe={"optimiser": optimiser})
    owner = np.random.default_rng(0).integers(2, size=vertices)
    model = training.model()
    if smoothing is not None:
        sample = model.sample
        model = model.with_sample(replace(sample, rows_here=StaleParts(
            owner, sample.edges[0], sample.element_width, smoothing)))
    alone = ReferenceDevice(model)
    expected = [alone.train_step() for _ in range(STEPS)], alone.evaluate()
    state = alone.state()

    models = [training.model() for _ in range(2)]
    parts = [*parts_of(models[0].sample, Division.count(models[0].sample.edges[0], owner, 2),
                       smoothing)]

    def train(group):
        model = models[group.rank].with_sample(parts[group.rank])
        model.sample.rows_here.others.connect(group)
        device = ReferenceDevice(model) if group.rank else ChipDevice(
            transport or CxxrtlTransport(config), compile_pieces(model, config), model)
        try:
            scheme = GraphInParallel(model, group.rank)
            worker = Worker(device, scheme, group)
            trained = [worker.carry_out(scheme.step([model.sample])).metrics
                       for _ in range(STEPS)]
            return (trained, worker.carry_out(scheme.evaluate())), device.state()
        finally:
            device.close()

    for found, after in on_ranks(2, train):
        np.testing.assert_equal(found, expected)
        assert after.exponents == state.exponents
        for name, arrays in state.parameters.items():
            for kind, values in arrays.items():
                np.testing.assert_array_equal(after.parameters[name][kind], values)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize("config", CHIPS.values(), ids=CHIPS.keys())
def test_configurations(config, optimiser):
    check(config, optimiser)


@pytest.mark.parametrize("smoothing", [0, SMOOTHING_ONE // 2])
@pytest.mark.parametrize("config", [NARROW, WIDE], ids=["narrow", "wide"])
def test_stale_halos(config, smoothing):
    """The chip's halo has rows of the step before, as one reference that has all parts has them."""
    check(config, smoothing=smoothing)


def test_a_graph_of_one_strip():
    """All rows of a core fit the accumulators."""
    check(NARROW, vertices=40)
